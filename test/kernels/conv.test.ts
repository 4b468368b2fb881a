import { expect, test } from "vitest";
import { environmentNamed } from "../../kernels/environments/registry.ts";
import { applyConv } from "../../kernels/rollout/conv.reference.ts";
import { CONV, countParameters, layOutPolicy } from "../../kernels/rollout/policy-layout.ts";
import { rollOut } from "../../kernels/rollout/roll-out.reference.ts";
import { seededUniform } from "../../kernels/seeded-uniform.ts";
import type { OfferedEnvironment } from "../../src/protocol/policies/environment-definition.ts";
import type { PolicyNetwork } from "../../src/protocol/models/policy-network.ts";
import { FRAME_PIXELS } from "../../src/protocol/fleet/rollout-environment.ts";
import { openAdapters } from "./open-adapters.ts";

const TIMEOUT_MS = 300_000;
const conv = { kind: "conv", firstChannels: 3, secondChannels: 5, hidden: 7, activation: "tanh" } as const;
const plan = { seed: 3, firstEpisode: 0, episodes: 1, commonRandom: false };

/** Shows noise of greys of 0 to 7 once, and gives the one output as reward. */
const noise: OfferedEnvironment = {
  id: "env_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  digest: "",
  definition: {
    name: "noise",
    description: "",
    observationSize: FRAME_PIXELS,
    frames: true,
    action: { kind: "continuous", size: 1, low: -1, high: 1 },
    stepLimit: 1,
    measures: 0,
    scores: { worst: 0, best: 1, solvedAt: null },
    stateWords: 40,
    wgsl: `const CHANNELS = 7u;
struct State { frames: Observation }
fn reset(random: ptr<function, Random>) -> State {
  var state: State;
  for (var row = 0u; row < 40u; row++) { state.frames[row] = ((row + 1u) * 2654435769u) >> 2u; }
  return state;
}
fn observe(state: State) -> Observation { return state.frames; }
fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  return Transition(action[0], true);
}`,
  },
};

/** The pixels that it shows. */
function noisePixels(): Float64Array {
  const cellOf = (pixel: number) => Math.floor(((pixel + 0.5) * 10) / CONV.side);
  return Float64Array.from({ length: FRAME_PIXELS }, (_, index) => {
    const [frame, row, column] = [
      Math.floor(index / CONV.side ** 2),
      cellOf(Math.floor(index / CONV.side) % CONV.side),
      cellOf(index % CONV.side),
    ];
    const word = Math.imul(10 * frame + row + 1, 2654435769) >>> 2;
    return ((word >>> (3 * column)) & 7) / 7;
  });
}

test("a convolution over cells is one over their pixels", { timeout: TIMEOUT_MS }, async () => {
  const members = 5;
  const parameters = countParameters(conv, noise.definition);
  const layers = layOutPolicy(conv, noise.definition);
  const weights = Float32Array.from(seededUniform(21, 0, members * parameters), (weight) => weight / 8);
  for (const adapter of await openAdapters()) {
    const input = { environment: noise, network: conv, members, weights, ...plan };
    const { returns } = await adapter.work("rollOut", input, TIMEOUT_MS);
    for (const [member, output] of returns.entries()) {
      const row = weights.subarray(member * parameters, (member + 1) * parameters);
      const [expected] = applyConv(layers, row, noisePixels());
      expect(Math.abs(expected!)).toBeGreaterThan(1e-3);
      expect(Math.abs(output - expected!)).toBeLessThan(1e-5);
    }
  }
});

test("convolutional policies play pictures as the reference does", { timeout: TIMEOUT_MS }, async () => {
  const members = 3;
  const environment = environmentNamed("breakout-rendered");
  const parameters = countParameters(conv, environment);
  const weights = Float32Array.from(seededUniform(22, 0, members * parameters));
  const expected = Array.from({ length: members }, (_, member) => {
    const row = weights.subarray(member * parameters, (member + 1) * parameters);
    return rollOut(environment, conv, row, { seed: 3, member, episode: 0, commonRandom: false });
  });
  for (const adapter of await openAdapters()) {
    const input = { environment: environment.name, network: conv, members, weights, ...plan };
    const { returns, lengths, causes } = await adapter.work("rollOut", input, TIMEOUT_MS);
    const played = expected.map((_, member) => ({
      total: returns[member],
      length: lengths[member],
      cause: causes[member],
    }));
    expect(played).toEqual(expected);
  }
});

test.each<[string, PolicyNetwork]>([
  ["breakout", conv],
  ["breakout-rendered", { kind: "mlp", hidden: [2], activation: "tanh", outputActivation: "none" }],
  ["breakout-rendered", { kind: "direct" }],
])("%s refuses a network of another kind", { timeout: TIMEOUT_MS }, async (name, network) => {
  const weights = new Float32Array(countParameters(network, environmentNamed(name)));
  for (const adapter of await openAdapters()) {
    const input = { environment: name, network, members: 1, weights, ...plan };
    await expect(adapter.work("rollOut", input, TIMEOUT_MS)).rejects.toMatchObject({
      problem: { code: "invalid-request" },
    });
  }
});
