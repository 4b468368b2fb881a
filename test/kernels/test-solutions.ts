import { expect, test } from "vitest";
import type { EnvironmentSpec } from "../../kernels/environments/environment-spec.ts";
import { countParameters } from "../../kernels/rollout/policy-layout.ts";
import { CAUSES } from "../../kernels/rollout/roll-out.reference.ts";
import { seededUniform } from "../../kernels/seeded-uniform.ts";
import { openAdapters } from "./open-adapters.ts";

const TIMEOUT_MS = 300_000;
const MEMBERS = 33;
const DIRECT = { kind: "direct" } as const;

/**
 * Declares that a population of solutions, from `low` to `high`, has the reference's fitness and measures on every
 * adapter, to this many digits after the point.
 */
export function testSolutions(
  environment: EnvironmentSpec,
  { low, high, digits }: { readonly low: number; readonly high: number; readonly digits: number },
): void {
  test("a population of solutions has the reference's fitness and measures", { timeout: TIMEOUT_MS }, async () => {
    const length = countParameters(DIRECT, environment);
    const [middle, reach] = [(low + high) / 2, (high - low) / 2];
    const weights = seededUniform(4, 0, MEMBERS * length, reach).map((number) => middle + number);
    const plan = { seed: 1, firstEpisode: 0, episodes: 1, commonRandom: true };
    const input = { environment: environment.name, network: DIRECT, members: MEMBERS, weights, ...plan };
    const behaviour = new Float64Array(environment.measures);
    const state = new Float64Array(2);
    for (const adapter of await openAdapters()) {
      const { returns, lengths, causes, measures } = await adapter.work("rollOut", input, TIMEOUT_MS);
      for (let member = 0; member < MEMBERS; member++) {
        const row = Float64Array.from(weights.subarray(member * length, (member + 1) * length));
        const { reward } = environment.reference!.step(state, row, { words: () => [0, 0, 0, 0] });
        environment.reference!.measure!(state, behaviour);
        expect(returns[member]).toBeCloseTo(reward, digits);
        for (const [index, measure] of behaviour.entries())
          expect(measures[behaviour.length * member + index]).toBeCloseTo(measure, digits);
        expect([lengths[member], causes[member]]).toEqual([1, CAUSES.terminated | CAUSES.truncated]);
      }
    }
  });
}
