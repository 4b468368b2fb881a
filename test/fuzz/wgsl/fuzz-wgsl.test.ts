import { expect, test } from "vitest";
import { fuzzWgsl } from "./fuzz-wgsl.ts";

/** A few; `npm run fuzz` has 20,000. */
const PROGRAMS = 150;

test("a GPU's process takes or refuses what nearly is a kernel, and lives on", async () => {
  const { programs, compiled, findings } = await fuzzWgsl(PROGRAMS, 20_261_122, () => undefined);
  expect(findings).toEqual([]);
  expect(programs).toBe(PROGRAMS);
  expect(compiled).toBeGreaterThan(0);
  expect(compiled).toBeLessThan(programs);
});
