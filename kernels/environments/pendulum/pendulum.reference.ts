import { toUniform } from "../../../src/stats/random/draws.ts";
import { clip, wrapAngle } from "../motion.reference.ts";
import type { EnvironmentReference } from "../environment-spec.ts";

const GRAVITY = 10;
const MAX_TORQUE = 2;
const MAX_SPEED = 8;
const SECONDS = 0.05;

/** Pendulum-v1 as Gymnasium has it: angle (0 upright) and angular speed of a rod of 1 m and 1 kg. */
export const pendulumReference: EnvironmentReference = {
  reset(state, draws) {
    const [angle, speed] = draws.words();
    state[0] = Math.PI * (2 * toUniform(angle) - 1);
    state[1] = 2 * toUniform(speed) - 1;
  },
  observe([angle, speed], observation) {
    observation.set([Math.cos(angle!), Math.sin(angle!), speed!]);
  },
  step(state, action) {
    const [angle, speed] = state as unknown as [number, number];
    const torque = clip(action[0]!, MAX_TORQUE);
    const away = wrapAngle(angle);
    state[1] = clip(speed + SECONDS * (1.5 * GRAVITY * Math.sin(angle) + 3 * torque), MAX_SPEED);
    state[0] = angle + SECONDS * state[1];
    return { reward: -(away ** 2 + 0.1 * speed ** 2 + 0.001 * torque ** 2), terminated: false };
  },
};
