import { setImmediate } from "node:timers/promises";
import { countStateWords, type EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import { countOutputs } from "../../../../kernels/rollout/policy-layout.ts";
import { ENVIRONMENT_STREAM } from "../../../../kernels/rollout/roll-out.reference.ts";
import type { EvaluationResult } from "../../../protocol/jobs/evaluation/evaluation.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { createDraws, type Draws } from "../../../stats/random/draws.ts";
import { sfc32 } from "../../../stats/random/seeded.ts";
import type { ReplayRequest, ReplayTrace } from "../../environments/replay-environment.ts";

type Proof = NonNullable<EvaluationResult["proof"]>;

const EPISODES = 8;
const STEPS = 8;
const SEED = 20_261_122;
/** Largest error of one f32 step against the same f64 step, relative to the larger of 1 and the number. */
const TOLERANCE = 1e-4;
/** Least share of the compared steps that must agree. */
const LEAST_AGREEING = 0.9;
/** Least number of steps that can be compared: fewer prove nothing. */
const LEAST_STEPS = EPISODES / 2;
/** Relative size of the nudge to a state that shows whether a step from there can be compared at all. */
const NUDGE = 2 ** -18;
const NUDGES = 4;

/** Starts and actions from a seed, by which a device proves that it moves an environment as its reference does. */
export function planProof(environment: EnvironmentSpec): ReplayRequest {
  const words = countStateWords(environment);
  const numbers = environment.action.kind === "discrete" ? 1 : countOutputs(environment.action);
  const starts = new Float64Array(EPISODES * words);
  for (let episode = 0; episode < EPISODES; episode++) {
    environment.reference!.reset(starts.subarray(episode * words, (episode + 1) * words), drawsOf(episode, 0));
  }
  const draw = sfc32(SEED);
  const actions = Float32Array.from({ length: EPISODES * STEPS * numbers }, () => drawAction(environment, draw));
  return { starts, actions, steps: STEPS, seed: SEED };
}

/**
 * Compares every step of a device with the reference's step from the same state, so that a difference counts once.
 * Steps decided by rounding, such as a ball's third collision, are left out: there the nudged reference itself
 * diverges.
 * Fails with `backend-failed`, and numbers, where too few steps agree.
 */
export async function judgeProof(
  environment: EnvironmentSpec,
  { actions }: ReplayRequest,
  trace: ReplayTrace,
): Promise<Proof> {
  const words = countStateWords(environment);
  const types = typesOf(environment);
  const numbers = actions.length / (EPISODES * STEPS);
  const draw = sfc32(SEED);
  let [steps, agreeing, largestDifference] = [0, 0, 0];
  for (let episode = 0; episode < EPISODES; episode++) {
    for (let step = 0; step < STEPS; step++) {
      // References of colliding bodies need milliseconds a step, and the runner must stay responsive.
      await setImmediate();
      const moved = episode * STEPS + step;
      const from = (episode * (STEPS + 1) + step) * words;
      const action = Float64Array.from(actions.subarray(moved * numbers, (moved + 1) * numbers));
      const take = (state: Float64Array) => takeStep(environment, state, action, drawsOf(episode, step + 1));
      const before = trace.states.subarray(from, from + words);
      const expected = take(before);
      const nudged = Array.from({ length: NUDGES }, () => take(nudge(types, before, draw)));
      if (nudged.every((other) => differenceOf(types, other, expected) <= TOLERANCE)) {
        const after = trace.states.subarray(from + words, from + 2 * words);
        const found = [...after, trace.rewards[moved]!, Number(trace.terminated[moved])];
        const difference = differenceOf(types, found, expected);
        largestDifference = Math.max(largestDifference, difference);
        steps++;
        if (difference <= TOLERANCE) agreeing++;
      }
      // No rollout goes on from here, and an environment need not say how it would.
      if (expected.at(-1) === 1 || trace.terminated[moved]) break;
    }
  }
  if (steps >= LEAST_STEPS && agreeing >= LEAST_AGREEING * steps) return { steps, agreeing, largestDifference };
  throw new ProblemError(
    "backend-failed",
    `This device moves ${environment.name} otherwise than its reference: ${agreeing} of ${steps} steps agree, the largest difference is ${largestDifference.toPrecision(3)}.`,
  );
}

/** The next state, the reward, and 1 where the episode ended. */
function takeStep(
  { reference }: EnvironmentSpec,
  before: Float64Array,
  action: Float64Array,
  draws: Draws,
): readonly number[] {
  const state = Float64Array.from(before);
  const { reward, terminated } = reference!.step(state, action, draws);
  return [...state, reward, Number(terminated)];
}

/** The type of each word of a state. */
function typesOf({ state }: EnvironmentSpec): string[] {
  return state.flatMap(({ type, count }) => Array.from({ length: count }, () => type));
}

/** A state with its real numbers slightly increased or decreased. */
function nudge(types: readonly string[], before: Float64Array, draw: (below: number) => number): Float64Array {
  return before.map((value, index) => (types[index] === "f32" ? value * (1 + NUDGE * (2 * draw(2) - 1)) : value));
}

/**
 * The largest difference of two outcomes, relative to the larger of 1 and the number; always finite. Whole numbers of
 * the state are equal or differ by at least 1: a wrong low bit of a packed word is a wrong state.
 */
function differenceOf(types: readonly string[], actual: readonly number[], expected: readonly number[]): number {
  return actual.reduce((largest, value, index) => {
    const wanted = expected[index]!;
    if (value === wanted || (Number.isNaN(value) && Number.isNaN(wanted))) return largest;
    const isReal = (types[index] ?? "f32") === "f32";
    const difference = Math.abs(value - wanted) / (isReal ? Math.max(1, Math.abs(wanted)) : 1);
    return Number.isNaN(difference) ? Number.MAX_VALUE : Math.max(largest, Math.min(difference, Number.MAX_VALUE));
  }, 0);
}

function drawsOf(episode: number, step: number): Draws {
  return createDraws({ seed: SEED, stream: ENVIRONMENT_STREAM, member: 0, episode, step });
}

function drawAction({ action }: EnvironmentSpec, draw: (below: number) => number): number {
  if (action.kind === "discrete") return draw(action.count);
  return action.low + (action.high - action.low) * (draw(2 ** 24) / 2 ** 24);
}
