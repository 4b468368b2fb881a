import { beforeAll, expect, test } from "vitest";
import {
  countObservationWords,
  countStateWords,
  type EnvironmentSpec,
} from "../../kernels/environments/environment-spec.ts";
import { countParameters } from "../../kernels/rollout/policy-layout.ts";
import { rollOut } from "../../kernels/rollout/roll-out.reference.ts";
import { seededUniform } from "../../kernels/seeded-uniform.ts";
import type { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import type { PolicyNetwork } from "../../src/protocol/models/policy-network.ts";
import type { Draws } from "../../src/stats/random/draws.ts";
import { openRolloutDevices } from "./open-adapters.ts";

const TIMEOUT_MS = 300_000;

/** Play of a game of MinAtar as bench/oracles/minatar_games.py recorded it. */
export interface RecordedGame {
  readonly source: string;
  readonly episodes: readonly RecordedEpisode[];
}

interface RecordedEpisode {
  /** Upper 16 bits of the random words of the reset. */
  readonly reset: readonly number[];
  /** Numbers of the state by name that were set after it. */
  readonly arranged?: Readonly<Record<string, number>>;
  /** A digit a step each: action, reward, count of numbers drawn. */
  readonly actions: string;
  readonly rewards: string;
  readonly counts: string;
  /** The last step was the end. */
  readonly ended: boolean;
  /** Base64 of u16: the upper halves of the words that the steps drew. */
  readonly drawn: string;
  /** Base64 of u32: a hash of the frame before the first step and after each. */
  readonly frames: string;
}

/**
 * Declares that a game is MinAtar's exactly: every frame, reward and end under the random numbers that MinAtar drew, of
 * our reference and of the WGSL on every adapter; and that policies play it as the reference does.
 */
export function testGame(environment: EnvironmentSpec, { source, episodes }: RecordedGame, members: number): void {
  let adapters: readonly DeviceHost[] = [];
  beforeAll(async () => {
    adapters = await openRolloutDevices(environment);
  }, TIMEOUT_MS);
  const recorded = episodes.map(decode);

  test(`the reference plays as ${source}`, () => {
    const observation = new Float64Array(environment.observationSize);
    for (const [index, episode] of recorded.entries()) {
      const played = replayReference(environment, episode).map(({ state, reward, terminated }) => {
        environment.reference!.observe(state, observation);
        return { frame: hashFrame(packBits(observation)), reward, terminated };
      });
      expect(played, `episode ${index}`).toEqual(episode.frames);
    }
  });

  test(`every backend plays as ${source}`, { timeout: TIMEOUT_MS }, async () => {
    expect(adapters).not.toHaveLength(0);
    const steps = Math.max(...recorded.map(({ actions }) => actions.length));
    const stateWords = countStateWords(environment);
    const words = countObservationWords(environment);
    const blocks = Math.max(...recorded.flatMap((episode) => episode.words.map(({ length }) => Math.ceil(length / 4))));
    const starts = new Float64Array(episodes.length * stateWords);
    const actions = new Float32Array(episodes.length * steps);
    const tape = new Uint32Array(4 * blocks * steps * episodes.length);
    for (const [index, episode] of recorded.entries()) {
      starts.set(startReference(environment, episode), index * stateWords);
      actions.set(episode.actions, index * steps);
      for (const [at, drawn] of episode.words.entries()) tape.set(drawn, 4 * blocks * (index * steps + at));
    }
    for (const adapter of adapters) {
      const input = { environment: environment.name, starts, actions, steps, seed: 1, tape };
      const { observations, rewards, terminated } = await adapter.work("replay", input, TIMEOUT_MS);
      const shown = new Uint32Array(observations);
      for (const [index, { frames }] of recorded.entries()) {
        const played = frames.map((_, at) => {
          const from = (index * (steps + 1) + at) * words;
          const frame = hashFrame(shown.subarray(from, from + words));
          const step = index * steps + at - 1;
          return at === 0
            ? { frame, reward: 0, terminated: false }
            : { frame, reward: rewards[step]!, terminated: terminated[step]! };
        });
        expect(played, `episode ${index} on ${adapter.device.name}`).toEqual(frames);
      }
    }
  });

  test("policies play it on the GPU as the reference does", { timeout: TIMEOUT_MS }, async () => {
    const network: PolicyNetwork = { kind: "mlp", hidden: [6], activation: "tanh", outputActivation: "none" };
    const parameters = countParameters(network, environment);
    const weights = Float32Array.from(seededUniform(5, 0, members * parameters));
    const plan = { seed: 3, firstEpisode: 1, episodes: 1, commonRandom: false };
    const expected = Array.from({ length: members }, (_, member) => {
      const row = weights.subarray(member * parameters, (member + 1) * parameters);
      return rollOut(environment, network, row, { seed: 3, member, episode: 1, commonRandom: false });
    });
    for (const adapter of adapters) {
      const input = { environment: environment.name, network, members, weights, ...plan };
      const { returns, lengths, causes } = await adapter.work("rollOut", input, TIMEOUT_MS);
      const same = expected.filter(
        ({ total, length, cause }, member) =>
          returns[member] === total && lengths[member] === length && causes[member] === cause,
      );
      // Rounding may tip a close decision once in a while.
      expect(same.length).toBeGreaterThan(0.9 * members);
    }
  });
}

type Recording = ReturnType<typeof decode>;

/** Every state of a recorded episode, and its cause. */
function replayReference(environment: EnvironmentSpec, episode: Recording) {
  const state = startReference(environment, episode);
  const steps = [{ state: state.slice(), reward: 0, terminated: false }];
  for (const [step, action] of episode.actions.entries()) {
    const draws = createTape(episode.words[step]!);
    const transition = environment.reference!.step(state, Float64Array.of(action), draws);
    steps.push({ state: state.slice(), ...transition });
  }
  return steps;
}

function startReference(environment: EnvironmentSpec, { reset, arranged }: Recording): Float64Array {
  const state = new Float64Array(countStateWords(environment));
  environment.reference!.reset(state, createTape(reset));
  let at = 0;
  for (const { name, count } of environment.state) {
    state[at] = arranged[name] ?? state[at]!;
    at += count;
  }
  return state;
}

function decode({ reset, arranged = {}, actions, rewards, counts, drawn, frames, ended }: RecordedEpisode) {
  const numbers = new Uint16Array(Uint8Array.from(Buffer.from(drawn, "base64")).buffer);
  let at = 0;
  const words = Array.from(counts, (count) => {
    const [sticky, ...others] = [...numbers.subarray(at, (at += Number(count)))].map(toWord);
    // Whether the last action is taken again is drawn from a block of its own.
    return [sticky!, 0, 0, 0, ...others];
  });
  const hashes = new Uint32Array(Uint8Array.from(Buffer.from(frames, "base64")).buffer);
  return {
    reset: reset.map(toWord),
    arranged,
    actions: Array.from(actions, Number),
    words,
    frames: Array.from(hashes, (frame, index) => ({
      frame,
      reward: index === 0 ? 0 : Number(rewards[index - 1]),
      terminated: ended && index === rewards.length,
    })),
  };
}

function toWord(upper: number): number {
  return upper * 2 ** 16;
}

function createTape(words: readonly number[]): Draws {
  let at = 0;
  const next = () => words[at++] ?? 0;
  return { words: () => [next(), next(), next(), next()] };
}

function packBits(observation: Float64Array): Uint32Array {
  const words = new Uint32Array(Math.ceil(observation.length / 32));
  for (const [index, bit] of observation.entries()) if (bit === 1) words[index >>> 5]! |= 1 << (index & 31);
  return words;
}

/** FNV-1a, word by word. */
function hashFrame(words: Uint32Array): number {
  return words.reduce((hash, word) => Math.imul(hash ^ word, 0x01000193) >>> 0, 0x811c9dc5);
}
