import { beforeAll, describe, expect, test } from "vitest";
import { runApart } from "./run-apart.ts";

describe("noise of a population", () => {
  let lines: readonly unknown[] = [];

  beforeAll(async () => {
    lines = await runApart("run-noise.ts");
  });

  test("rows come back as they were put", () => {
    expect(lines[0]).toEqual({ rowsKept: true });
  });

  test.each([false, true])("members and sums are those of the reference, mirrored: %s", (mirrored) => {
    const line = lines[mirrored ? 2 : 1] as Record<"perturbError" | "sumError" | "squareError", number>;
    expect(line).toMatchObject({ mirrored });
    // A few units in the last place of an f32, near 4.
    expect(line.perturbError).toBeLessThan(2e-6);
    // Sums of 333 numbers of up to 2.
    expect(line.sumError).toBeLessThan(5e-5);
    expect(line.squareError).toBeLessThan(5e-5);
  });

  test("nothing is left on the device", () => {
    expect(lines[3]).toEqual({ liveBytes: 0 });
  });
});
