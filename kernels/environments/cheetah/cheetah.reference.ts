import { toNormals, toUniform } from "../../../src/stats/random/draws.ts";
import type { EnvironmentReference } from "../environment-spec.ts";
import { createPlanarBody } from "../planar-body/planar-body.reference.ts";
import { CHEETAH } from "./cheetah.model.ts";

const SPREAD = 0.1;
const FREEDOMS = 3 + CHEETAH.joints.length;
const BLOCKS = Math.ceil(FREEDOMS / 4);

const body = createPlanarBody(CHEETAH);

/** A cheetah with the task of Gymnasium's HalfCheetah-v5, in our own mechanics. */
export const cheetahReference: EnvironmentReference = {
  reset(state, draws) {
    const uniform = Array.from({ length: BLOCKS }, () => draws.words().map((word) => 2 * toUniform(word) - 1));
    const normal = Array.from({ length: BLOCKS }, () => toNormals(draws.words()));
    const places = uniform.flat().map((number) => SPREAD * number);
    const speeds = normal.flat().map((number) => SPREAD * number);
    body.pose(state, [0, places[1]! + CHEETAH.bodies[0]!.centre[1], ...places.slice(2)], speeds);
  },
  observe: (state, observation) => body.read(state, observation),
  step(state, action) {
    const speed = body.step(state, action) / CHEETAH.seconds;
    const effort = action.reduce((sum, torque) => sum + torque ** 2, 0);
    return { reward: speed - 0.1 * effort, terminated: false };
  },
};
