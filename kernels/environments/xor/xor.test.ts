import { describe, expect, test } from "vitest";
import { testEnvironment } from "../../../test/kernels/test-environment.ts";
import { rollOut } from "../../rollout/roll-out.reference.ts";
import { xor } from "./xor.environment.ts";

describe("xor", () => {
  testEnvironment(xor, {
    source: "its definition",
    episodes: [
      {
        states: [[0], [1], [2], [3], [0], [1]],
        actions: [[0.25], [0.5], [2], [-1], [1]],
        rewards: [1 - 0.25 ** 2, 0.75, 1, 1, 0],
        terminated: [false, false, false, true, false],
      },
    ],
  });

  const key = { seed: 1, member: 0, episode: 0, commonRandom: true };

  test("gives 3 to whoever cannot decide", () => {
    const network = { kind: "mlp", hidden: [], activation: "none", outputActivation: "sigmoid" } as const;
    expect(rollOut(xor, network, new Float32Array(3), key)).toEqual({ total: 3, length: 4, cause: 3 });
  });

  test("is solved by the network that everybody draws", () => {
    const network = { kind: "mlp", hidden: [2], activation: "sigmoid", outputActivation: "sigmoid" } as const;
    // Either of the two, but not both.
    const weights = Float32Array.of(20, 20, 20, 20, -10, -30, 20, -20, -10);
    expect(rollOut(xor, network, weights, key).total).toBeGreaterThan(xor.scores.solvedAt!);
  });
});
