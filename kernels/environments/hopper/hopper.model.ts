import type { PlanarModel } from "../planar-body/planar-model.ts";

const DEGREE = Math.PI / 180;
const drive = { gear: 200, damping: 1, stiffness: 0, armature: 1 };

/** Torso, thigh, leg and foot with the sizes, masses and drives of Gymnasium's hopper.xml as MuJoCo compiles it. */
export const HOPPER: PlanarModel = {
  bodies: [
    { mass: 3.66519, inertia: 0.0692459, centre: [0, 1.25] },
    { mass: 4.05789, inertia: 0.0932988, centre: [0, 0.825] },
    { mass: 2.78136, inertia: 0.0723025, centre: [0, 0.35] },
    { mass: 5.31557, inertia: 0.103523, centre: [0.065, 0.1] },
  ],
  joints: [
    { parent: 0, place: [0, 1.05], low: -150 * DEGREE, high: 0, ...drive },
    { parent: 1, place: [0, 0.6], low: -150 * DEGREE, high: 0, ...drive },
    { parent: 2, place: [0, 0.1], low: -45 * DEGREE, high: 45 * DEGREE, ...drive },
  ],
  feet: [
    { body: 0, place: [0, 1.45], radius: 0.05 },
    { body: 0, place: [0, 1.05], radius: 0.05 },
    { body: 1, place: [0, 0.6], radius: 0.05 },
    { body: 3, place: [-0.13, 0.1], radius: 0.06 },
    { body: 3, place: [0.26, 0.1], radius: 0.06 },
  ],
  friction: 2,
  seconds: 0.008,
  substeps: 4,
  rounds: 6,
};
