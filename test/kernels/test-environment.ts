import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { countStateWords, type EnvironmentSpec } from "../../kernels/environments/environment-spec.ts";
import { countOutputs } from "../../kernels/rollout/policy-layout.ts";
import type { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { createDraws, type Draws } from "../../src/stats/random/draws.ts";
import { openRolloutDevices } from "./open-adapters.ts";

const TIMEOUT_MS = 300_000;

/** Trajectories of another implementation, committed with its version. */
export interface OracleVectors {
  /** Their source, such as `gymnasium 1.2.0`. */
  readonly source: string;
  readonly episodes: readonly {
    /** States before the first action and after each, in the order of the spec's `state`. */
    readonly states: readonly (readonly number[])[];
    /** An index each, or components. */
    readonly actions: readonly (number | readonly number[])[];
    readonly rewards: readonly number[];
    readonly terminated: readonly boolean[];
  }[];
}

/** Vectors that a script of bench/oracles has written beside an environment, by the address of that one's test. */
export function readOracle(name: string, testUrl: string): OracleVectors {
  return JSON.parse(readFileSync(new URL(`${name}.vectors.json`, testUrl), "utf8")) as OracleVectors;
}

/** Largest difference of a trajectory of f32 from one of f64, after one step and after fifty. */
const TOLERANCE = { first: 2e-6, later: 1e-4 };

/**
 * Declares the oracle tests of an environment: our reference agrees with the vectors to rounding of f64, and its programs on
 * every adapter with them as far as f32 can. Differences are relative to 1 or, where that is more, to the number.
 */
export function testEnvironment(environment: EnvironmentSpec, oracle: OracleVectors, tolerance = TOLERANCE): void {
  test(`the reference takes the steps of ${oracle.source}`, () => {
    for (const [index, { states, actions, rewards, terminated }] of oracle.episodes.entries()) {
      const state = Float64Array.from(states[0]!);
      for (const [at, action] of actions.entries()) {
        const transition = environment.reference!.step(state, toAction(action), drawsAt(index, at + 1));
        expect(transition.terminated, `episode ${index}, step ${at}`).toBe(terminated[at]);
        expectNear([transition.reward], [rewards[at]!], 1e-9, `reward of episode ${index}, step ${at}`);
        expectNear(state, states[at + 1]!, 1e-9, `episode ${index}, step ${at}`);
      }
    }
  });
  testDevices(environment, oracle, tolerance);
}

/** Episodes that begin by themselves, beside those of the vectors. */
const OWN_EPISODES = 8;
/** A start and an observation are a few operations away from random words and a state. */
const SHOWN_TOLERANCE = 2e-6;

/** Declares that its programs begin, show their states and take the steps of the vectors as they should. */
export function testDevices(environment: EnvironmentSpec, oracle: OracleVectors, tolerance = TOLERANCE): void {
  let adapters: readonly DeviceHost[] = [];
  beforeAll(async () => {
    adapters = await openRolloutDevices(environment);
  }, TIMEOUT_MS);

  test(`every backend takes the steps of ${oracle.source}`, { timeout: TIMEOUT_MS }, async () => {
    expect(adapters).not.toHaveLength(0);
    const words = countStateWords(environment);
    const { action, observationSize } = environment;
    const numbers = action.kind === "discrete" ? 1 : countOutputs(action);
    const given = oracle.episodes.length;
    const steps = Math.max(...oracle.episodes.map(({ actions }) => actions.length));
    // Episodes side by side, the shorter ones with zeros behind them.
    const allActions = new Float32Array((given + OWN_EPISODES) * steps * numbers);
    for (const [index, { actions }] of oracle.episodes.entries())
      allActions.set(
        actions.flatMap((taken) => [...toAction(taken)]),
        index * steps * numbers,
      );
    const starts = Float64Array.from(oracle.episodes.flatMap(({ states }) => states[0]!));
    const state = new Float64Array(words);
    const observation = new Float64Array(observationSize);
    for (const adapter of adapters) {
      const { name } = adapter.device;
      const input = { environment: environment.name, starts, actions: allActions, steps, seed: SEED };
      const trace = await adapter.work("replay", input, TIMEOUT_MS);
      const observations = new Float32Array(trace.observations);
      const stateAt = (at: number) => trace.states.subarray(at * words, (at + 1) * words);
      const observationAt = (at: number) => observations.subarray(at * observationSize, (at + 1) * observationSize);
      for (const [index, { states, actions, rewards, terminated }] of oracle.episodes.entries()) {
        for (const at of actions.keys()) {
          const bound = tolerance.first + (tolerance.later - tolerance.first) * Math.min(1, at / 50);
          const where = `episode ${index}, step ${at} on ${name}`;
          const after = index * (steps + 1) + at + 1;
          const moved = index * steps + at;
          expectNear(stateAt(after), states[at + 1]!, bound, where);
          expectNear([trace.rewards[moved]!], [rewards[at]!], bound, `reward of ${where}`);
          expect(trace.terminated[moved], where).toBe(terminated[at]);
          environment.reference!.observe(Float64Array.from(stateAt(after)), observation);
          expectNear(observationAt(after), observation, SHOWN_TOLERANCE, `what is shown of ${where}`);
        }
      }
      for (let index = given; index < given + OWN_EPISODES; index++) {
        environment.reference!.reset(state, drawsAt(index, 0));
        expectNear(stateAt(index * (steps + 1)), state, SHOWN_TOLERANCE, `start of episode ${index} on ${name}`);
      }
    }
  });
}

/** Seed of the replay's draws. */
const SEED = 1;

function drawsAt(episode: number, step: number): Draws {
  return createDraws({ seed: SEED, stream: 1, member: 0, episode, step });
}

function toAction(action: number | readonly number[]): Float64Array {
  return Float64Array.from(typeof action === "number" ? [action] : action);
}

function expectNear(actual: ArrayLike<number>, expected: ArrayLike<number>, bound: number, where: string): void {
  expect(actual.length, where).toBe(expected.length);
  for (let index = 0; index < expected.length; index++) {
    const scale = Math.max(1, Math.abs(expected[index]!));
    expect(Math.abs(actual[index]! - expected[index]!) / scale, `${where}, number ${index}`).toBeLessThanOrEqual(bound);
  }
}
