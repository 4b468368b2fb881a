import type { PlanarModel, Point } from "../planar-body/planar-model.ts";

const RADIUS = 0.046;
const ARMATURE = 0.1;
const foot = (body: number, place: Point) => ({ body, place, radius: RADIUS });

/**
 * Torso with head, and two legs of thigh, shin and foot, with the sizes, masses and drives of Gymnasium's
 * half_cheetah.xml as MuJoCo compiles it. Its angles are clockwise and ours are not.
 */
export const CHEETAH: PlanarModel = {
  bodies: [
    { mass: 6.25021, inertia: 0.897118, centre: [0.15239, 0.7254] },
    { mass: 1.54351, inertia: 0.0168443, centre: [-0.4, 0.57] },
    { mass: 1.58745, inertia: 0.0182674, centre: [-0.48, 0.38] },
    { mass: 1.0954, inertia: 0.00635242, centre: [-0.59, 0.213] },
    { mass: 1.43808, inertia: 0.0137396, centre: [0.43, 0.58] },
    { mass: 1.20084, inertia: 0.00822211, centre: [0.425, 0.37] },
    { mass: 0.884519, inertia: 0.00352911, centre: [0.535, 0.21] },
  ],
  joints: [
    {
      parent: 0,
      place: [-0.5, 0.7],
      low: -1.05,
      high: 0.52,
      gear: 120,
      damping: 6,
      stiffness: 240,
      armature: ARMATURE,
    },
    {
      parent: 1,
      place: [-0.34, 0.45],
      low: -0.785,
      high: 0.785,
      gear: 90,
      damping: 4.5,
      stiffness: 180,
      armature: ARMATURE,
    },
    {
      parent: 2,
      place: [-0.62, 0.31],
      low: -0.785,
      high: 0.4,
      gear: 60,
      damping: 3,
      stiffness: 120,
      armature: ARMATURE,
    },
    { parent: 0, place: [0.5, 0.7], low: -0.7, high: 1, gear: 120, damping: 4.5, stiffness: 180, armature: ARMATURE },
    { parent: 4, place: [0.36, 0.46], low: -0.87, high: 1.2, gear: 60, damping: 3, stiffness: 120, armature: ARMATURE },
    { parent: 5, place: [0.49, 0.28], low: -0.5, high: 0.5, gear: 30, damping: 1.5, stiffness: 60, armature: ARMATURE },
  ],
  feet: [
    foot(0, [-0.5, 0.7]),
    foot(0, [0.5, 0.7]),
    foot(0, [0.7146, 0.8967]),
    foot(2, [-0.3455, 0.4465]),
    foot(2, [-0.6145, 0.3135]),
    foot(3, [-0.5649, 0.1224]),
    foot(5, [0.3651, 0.4575]),
    foot(5, [0.4849, 0.2825]),
    foot(6, [0.5745, 0.1522]),
  ],
  friction: 0.4,
  seconds: 0.05,
  substeps: 20,
  rounds: 4,
};
