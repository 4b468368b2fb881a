import { expect, it } from "vitest";
import { countStateWords } from "../../../../kernels/environments/environment-spec.ts";
import { environmentNamed } from "../../../../kernels/environments/registry.ts";
import type { ReplayTrace } from "../../../../src/gpu-runner/environments/replay-environment.ts";
import { judgeProof, planProof } from "../../../../src/gpu-runner/kinds/evaluation/prove-environment.ts";
import { createDraws } from "../../../../src/stats/random/draws.ts";

const environment = environmentNamed("breakout-rendered");
const words = countStateWords(environment);
const request = planProof(environment);
const episodes = request.starts.length / words;

/**
 * Steps of the reference; `spoil` says whether to add to the last number of a state, a packed word, before or after the
 * end.
 */
function replay(spoil: (isAfterEnd: boolean) => boolean, difference = 2 ** 29): ReplayTrace {
  const { starts, actions, steps, seed } = request;
  const trace = { states: [] as number[], rewards: [] as number[], terminated: [] as boolean[] };
  for (let episode = 0; episode < episodes; episode++) {
    const state = starts.slice(episode * words, (episode + 1) * words);
    let hasEnded = false;
    trace.states.push(...state);
    for (let step = 0; step < steps; step++) {
      const action = Float64Array.of(actions[episode * steps + step]!);
      const draws = createDraws({ seed, stream: 1, member: 0, episode, step: step + 1 });
      const { reward, terminated } = environment.reference!.step(state, action, draws);
      if (spoil(hasEnded)) state[words - 1]! += difference;
      hasEnded ||= terminated;
      trace.states.push(...state);
      trace.rewards.push(reward);
      trace.terminated.push(terminated);
    }
  }
  const { states, rewards, terminated } = trace;
  return {
    states: Float64Array.from(states),
    rewards: Float64Array.from(rewards),
    terminated,
    observations: new ArrayBuffer(),
  };
}

it("does not compare what follows the end of an episode", async () => {
  const trace = replay((isAfterEnd) => isAfterEnd);
  expect(trace.terminated).toContain(true);
  const { steps, agreeing } = await judgeProof(environment, request, trace);
  expect(agreeing).toBe(steps);
  expect(steps).toBeGreaterThan(episodes);
});

it.each([2 ** 29, 1])("refuses a device whose words before the end are wrong by %d", async (difference) => {
  expect(environment.state.at(-1)!.type).not.toBe("f32");
  const trace = replay((isAfterEnd) => !isAfterEnd, difference);
  await expect(judgeProof(environment, request, trace)).rejects.toThrow(
    "This device moves breakout-rendered otherwise than its reference",
  );
});
