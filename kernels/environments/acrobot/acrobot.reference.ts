import { toUniform } from "../../../src/stats/random/draws.ts";
import { clip, stepRungeKutta, wrapAngle } from "../motion.reference.ts";
import type { EnvironmentReference } from "../environment-spec.ts";

const GRAVITY = 9.8;
const SECONDS = 0.2;
const MAX_SPEEDS = [4 * Math.PI, 9 * Math.PI] as const;

/** Acrobot-v1 as Gymnasium has it, with the book's dynamics: two angles and their speeds. */
export const acrobotReference: EnvironmentReference = {
  reset(state, draws) {
    state.set(draws.words().map((word) => (toUniform(word) - 0.5) * 0.2));
  },
  observe(state, observation) {
    const [first, second, firstSpeed, secondSpeed] = state as unknown as State;
    observation.set([Math.cos(first), Math.sin(first), Math.cos(second), Math.sin(second), firstSpeed, secondSpeed]);
  },
  step(state, action) {
    const torque = action[0]! - 1;
    const after = stepRungeKutta(state, SECONDS, (at) => findSlopes(at as unknown as State, torque));
    const [first, second] = [wrapAngle(after[0]!), wrapAngle(after[1]!)];
    state.set([first, second, clip(after[2]!, MAX_SPEEDS[0]), clip(after[3]!, MAX_SPEEDS[1])]);
    const up = -Math.cos(first) - Math.cos(first + second) > 1;
    return { reward: up ? 0 : -1, terminated: up };
  },
};

type State = readonly [number, number, number, number];

function findSlopes([first, second, firstSpeed, secondSpeed]: State, torque: number): number[] {
  const [sine, cosine] = [Math.sin(second), Math.cos(second)];
  const d1 = 3.5 + cosine;
  const d2 = 1.25 + 0.5 * cosine;
  const phi2 = 0.5 * GRAVITY * Math.sin(first + second);
  const phi1 =
    -0.5 * secondSpeed ** 2 * sine - secondSpeed * firstSpeed * sine + 1.5 * GRAVITY * Math.sin(first) + phi2;
  const secondPull = (torque + (d2 / d1) * phi1 - 0.5 * firstSpeed ** 2 * sine - phi2) / (1.25 - d2 ** 2 / d1);
  return [firstSpeed, secondSpeed, -(d2 * secondPull + phi1) / d1, secondPull];
}
