import { beforeAll, expect, test } from "vitest";
import { runApart } from "./run-apart.ts";

let lines: readonly unknown[] = [];

beforeAll(async () => {
  lines = await runApart("run-arithmetic.ts");
});

test("Philox4x32-10 gives the known answers of Random123's kat_vectors", () => {
  expect(lines.slice(0, 3)).toEqual([
    ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"],
    ["408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"],
    ["d16cfe09", "94fdcceb", "5001e420", "24126ea1"],
  ]);
});

test("functions are as exact as an f32 has room for, where WGSL's own need not be", () => {
  const errors = lines[3] as Record<string, number>;
  const bounds = {
    sine: 1.5e-7,
    cosine: 1.5e-7,
    farSine: 1.5e-7,
    turn: 1.5e-7,
    hyperbolicTangent: 5e-7,
    logarithm: 1.5e-7,
    largeLogarithm: 1.5e-7,
  };
  for (const [name, bound] of Object.entries(bounds)) expect(errors[name], name).toBeLessThan(bound);
});

test("numbers that are not finite are known by their bits", () => {
  expect(lines[4]).toEqual([0, 0, 0, 1]);
});
