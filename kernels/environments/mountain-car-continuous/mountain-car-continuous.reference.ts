import { clip } from "../motion.reference.ts";
import type { EnvironmentReference } from "../environment-spec.ts";
import { drive, mountainCarReference } from "../mountain-car/mountain-car.reference.ts";

const PUSH = 0.0015;
const GOAL = 0.45;

/** MountainCarContinuous-v0 as Gymnasium has it: position and speed. */
export const mountainCarContinuousReference: EnvironmentReference = {
  ...mountainCarReference,
  step(state, action) {
    drive(state, PUSH * clip(action[0]!, 1));
    const up = state[0]! >= GOAL && state[1]! >= 0;
    return { reward: (up ? 100 : 0) - 0.1 * action[0]! ** 2, terminated: up };
  },
};
