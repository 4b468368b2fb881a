import { describe, expect, test } from "vitest";
import { readOracle, testEnvironment } from "../../../test/kernels/test-environment.ts";
import { testSolutions } from "../../../test/kernels/test-solutions.ts";
import { rollOut } from "../../rollout/roll-out.reference.ts";
import { arm } from "./arm.environment.ts";

describe("arm", () => {
  testEnvironment(arm, readOracle("arm", import.meta.url));

  test("is one step of the parameters themselves", () => {
    const key = { seed: 1, member: 0, episode: 0, commonRandom: true };
    const straight = rollOut(arm, { kind: "direct" }, new Float32Array(100).fill(0.5), key);
    expect(straight).toEqual({ total: expect.closeTo(0, 12) as number, length: 1, cause: 3 });
    const folded = Float32Array.from({ length: 100 }, (_, index) => index % 2);
    expect(rollOut(arm, { kind: "direct" }, folded, key).total).toBe(-0.5);
  });

  testSolutions(arm, { low: -0.2, high: 1.2, digits: 5 });
});
