import { describe, expect, test } from "vitest";
import { readOracle, testEnvironment } from "../../../test/kernels/test-environment.ts";
import { testSolutions } from "../../../test/kernels/test-solutions.ts";
import { rollOut } from "../../rollout/roll-out.reference.ts";
import { sphere } from "./sphere.environment.ts";

describe("sphere", () => {
  // Fitness is in per cent: the rounding of 5.12 itself is 3e-6 of one at the worst solution, whose fitness is 0.
  testEnvironment(sphere, readOracle("sphere", import.meta.url), { first: 4e-6, later: 1e-4 });

  test("is one step of the parameters themselves", () => {
    const key = { seed: 1, member: 0, episode: 0, commonRandom: true };
    const best = rollOut(sphere, { kind: "direct" }, new Float32Array(20).fill(2.048), key);
    expect(best).toEqual({ total: expect.closeTo(100, 6) as number, length: 1, cause: 3 });
    expect(rollOut(sphere, { kind: "direct" }, new Float32Array(20).fill(-5.12), key).total).toBeCloseTo(0, 5);
  });

  testSolutions(sphere, { low: -7, high: 7, digits: 4 });
});
