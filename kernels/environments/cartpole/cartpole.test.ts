import { describe, expect, test } from "vitest";
import { openRolloutDevices } from "../../../test/kernels/open-adapters.ts";
import { readOracle, testEnvironment } from "../../../test/kernels/test-environment.ts";
import { countParameters } from "../../rollout/policy-layout.ts";
import { rollOut } from "../../rollout/roll-out.reference.ts";
import { seededUniform } from "../../seeded-uniform.ts";
import { cartpole } from "./cartpole.environment.ts";

describe("cartpole", () => {
  testEnvironment(cartpole, readOracle("cartpole", import.meta.url));

  test("takes the step of the check value", () => {
    const state = Float64Array.of(0.01, -0.02, 0.03, 0.04);
    const draws = { words: () => [0, 0, 0, 0] as const };
    expect(cartpole.reference!.step(state, Float64Array.of(1), draws)).toEqual({ reward: 1, terminated: false });
    const expected = [0.0096, 0.17467919574755525, 0.0308, -0.2430687179600081];
    for (const [index, number] of expected.entries()) expect(state[index]).toBeCloseTo(number, 14);
  });

  test("rolls a population out as the reference does", async () => {
    const network = { kind: "mlp", hidden: [8], activation: "tanh", outputActivation: "none" } as const;
    const members = 67;
    const parameters = countParameters(network, cartpole);
    const weights = Float32Array.from(seededUniform(3, 0, members * parameters));
    const plan = { seed: 7, firstEpisode: 2, episodes: 3, commonRandom: true };
    for (const adapter of await openRolloutDevices(cartpole)) {
      const input = { environment: "cartpole", network, members, weights, ...plan };
      const { returns, lengths, causes } = await adapter.work("rollOut", input, 300_000);
      let same = 0;
      for (let member = 0; member < members; member++) {
        const row = weights.subarray(member * parameters, (member + 1) * parameters);
        for (let episode = 0; episode < plan.episodes; episode++) {
          const key = { seed: 7, member, episode: plan.firstEpisode + episode, commonRandom: true };
          const expected = rollOut(cartpole, network, row, key);
          const at = member * plan.episodes + episode;
          expect(returns[at]).toBe(lengths[at]);
          if (lengths[at] === expected.length && causes[at] === expected.cause) same++;
        }
      }
      // Rounding may tip a close decision once in a while.
      expect(same).toBeGreaterThan(0.97 * members * plan.episodes);
    }
  });
});
