import { toUniform } from "../../../src/stats/random/draws.ts";
import { clip } from "../motion.reference.ts";
import type { EnvironmentReference } from "../environment-spec.ts";
import { createPlanarBody } from "../planar-body/planar-body.reference.ts";
import { HOPPER } from "./hopper.model.ts";

const SPREAD = 0.005;
const MIN_HEIGHT = 0.7;
const MAX_ANGLE = 0.2;
const MAX_NUMBER = 100;
const SEEN_SPEED = 10;
const FREEDOMS = 3 + HOPPER.joints.length;

const body = createPlanarBody(HOPPER);

/** A hopper with the task of Gymnasium's Hopper-v5, in our own mechanics. */
export const hopperReference: EnvironmentReference = {
  reset(state, draws) {
    const blocks = Array.from({ length: (2 * FREEDOMS) / 4 }, () => draws.words());
    const drawn = blocks.flat().map((word) => SPREAD * (2 * toUniform(word) - 1));
    const places = [0, drawn[1]! + HOPPER.bodies[0]!.centre[1], ...drawn.slice(2, FREEDOMS)];
    body.pose(state, places, drawn.slice(FREEDOMS));
  },
  observe(state, observation) {
    body.read(state, observation);
    for (let index = FREEDOMS - 1; index < observation.length; index++)
      observation[index] = clip(observation[index]!, SEEN_SPEED);
  },
  step(state, action) {
    const speed = body.step(state, action) / HOPPER.seconds;
    const numbers = new Float64Array(2 * FREEDOMS - 1);
    body.read(state, numbers);
    const [height, angle] = numbers as unknown as [number, number];
    const bounded = numbers.subarray(1).every((number) => Math.abs(number) < MAX_NUMBER);
    const healthy = height > MIN_HEIGHT && Math.abs(angle) < MAX_ANGLE && bounded;
    const effort = action.reduce((sum, torque) => sum + torque ** 2, 0);
    return { reward: speed + (healthy ? 1 : 0) - 1e-3 * effort, terminated: !healthy };
  },
};
