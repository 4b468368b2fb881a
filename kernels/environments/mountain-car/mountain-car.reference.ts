import { toUniform } from "../../../src/stats/random/draws.ts";
import { clip } from "../motion.reference.ts";
import type { EnvironmentReference } from "../environment-spec.ts";

const PUSH = 0.001;
const GOAL = 0.5;

/** MountainCar-v0 as Gymnasium has it (Moore 1990): position and speed. */
export const mountainCarReference: EnvironmentReference = {
  reset(state, draws) {
    state.set([0.2 * toUniform(draws.words()[0]) - 0.6, 0]);
  },
  observe: (state, observation) => observation.set(state),
  step(state, action) {
    drive(state, PUSH * (action[0]! - 1));
    return { reward: -1, terminated: state[0]! >= GOAL && state[1]! >= 0 };
  },
};

const GRAVITY = 0.0025;
const MAX_SPEED = 0.07;
const WALL = -1.2;
const END = 0.6;

/** Moves a car one step under a push; the wall stops it. */
export function drive(state: Float64Array, push: number): void {
  const [before, speedBefore] = state as unknown as [number, number];
  const pull = push - GRAVITY * Math.cos(3 * before);
  const speed = clip(speedBefore + pull, MAX_SPEED);
  const position = Math.min(Math.max(before + speed, WALL), END);
  state.set([position, position === WALL && speed < 0 ? 0 : speed]);
}
