import { toUniform } from "../../../src/stats/random/draws.ts";
import type { EnvironmentReference } from "../environment-spec.ts";

const GRAVITY = 9.8;
const POLE_MASS = 0.1;
const TOTAL_MASS = 1.1;
const HALF_LENGTH = 0.5;
const FORCE = 10;
const SECONDS = 0.02;
const MAX_X = 2.4;
const MAX_ANGLE = (12 * 2 * Math.PI) / 360;

/** CartPole-v1 as Gymnasium has it (Barto, Sutton and Anderson 1983): position, speed, angle, angular speed. */
export const cartpoleReference: EnvironmentReference = {
  reset(state, draws) {
    state.set(draws.words().map((word) => (toUniform(word) - 0.5) * 0.1));
  },
  observe: (state, observation) => observation.set(state),
  step(state, action) {
    const [x, xSpeed, angle, angleSpeed] = state as unknown as [number, number, number, number];
    const force = action[0] === 1 ? FORCE : -FORCE;
    const sine = Math.sin(angle);
    const cosine = Math.cos(angle);
    const push = (force + POLE_MASS * HALF_LENGTH * angleSpeed ** 2 * sine) / TOTAL_MASS;
    const anglePull =
      (GRAVITY * sine - cosine * push) / (HALF_LENGTH * (4 / 3 - (POLE_MASS * cosine ** 2) / TOTAL_MASS));
    const xPull = push - (POLE_MASS * HALF_LENGTH * anglePull * cosine) / TOTAL_MASS;
    state[0] = x + SECONDS * xSpeed;
    state[1] = xSpeed + SECONDS * xPull;
    state[2] = angle + SECONDS * angleSpeed;
    state[3] = angleSpeed + SECONDS * anglePull;
    return { reward: 1, terminated: Math.abs(state[0]) > MAX_X || Math.abs(state[2]) > MAX_ANGLE };
  },
};
