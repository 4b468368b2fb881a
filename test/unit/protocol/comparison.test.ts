import { describe, expect, it } from "vitest";
import { CompareQuery, parseSide, SMALLEST_EFFECT } from "../../../src/protocol/history/comparison.ts";
import { RELATIVE_ERROR } from "../../../src/stats/distribution/sketch.ts";

const read = (text: string) => {
  const parsed = parseSide(text);
  return "side" in parsed ? parsed.side : parsed.wrong;
};

describe("a side", () => {
  it("is its parts, whose values may hold colons", () => {
    expect(read("label:release:1;last:20")).toEqual({ label: "release:1", last: 20 });
    expect(read("window:2026-01-01T00:00:00Z/")).toEqual({ window: { from: "2026-01-01T00:00:00Z", to: undefined } });
    expect(read("baseline:feature/x")).toEqual({ baseline: "feature/x" });
  });

  it("names its errors", () => {
    expect(read("main")).toContain('"main" is none');
    expect(read("label:a;label:b")).toBe("names label twice");
    expect(read("colour:red")).toMatch(/^names colour, which is none of run, label/);
    expect(read("run:7")).toBe("run must be an id like run_…");
    expect(read("window:2026-02-01T00:00:00Z/2026-01-01T00:00:00Z")).toBe("window must end after it begins");
  });

  it("claims no smaller effect than a ratio of two values of sketches has of error", () => {
    const worst = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR) - 1;
    expect(SMALLEST_EFFECT).toBeGreaterThan(0.99 * worst);
    const sides = { a: "label:a", b: "label:b" };
    expect(CompareQuery.parse(sides).minimumEffect).toBe(SMALLEST_EFFECT);
    expect(CompareQuery.safeParse({ ...sides, minimumEffect: "0.009" }).success).toBe(false);
  });
});
