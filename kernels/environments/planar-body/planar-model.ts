/** A point of the x-z plane, m. */
export type Point = readonly [x: number, z: number];

/**
 * Rigid bodies in a vertical plane, joined by hinges into a tree, above flat ground at height 0. Angles are
 * counter-clockwise with x to the right; all bodies have angle 0 in the pose that the points are given in.
 */
export interface PlanarModel {
  /** `centre`: of mass, in that pose. */
  readonly bodies: readonly { readonly mass: number; readonly inertia: number; readonly centre: Point }[];
  /** Each joint's child is a body of a higher index than its parent; the joint i moves the body i + 1. */
  readonly joints: readonly PlanarJoint[];
  /** Round ends that may touch the ground. */
  readonly feet: readonly { readonly body: number; readonly place: Point; readonly radius: number }[];
  /** Coefficient of friction. */
  readonly friction: number;
  readonly substeps: number;
  /** Rounds of corrections in a substep. */
  readonly rounds: number;
  /** Of one step, s. */
  readonly seconds: number;
}

export interface PlanarJoint {
  readonly parent: number;
  readonly place: Point;
  /** Limits of the child's angle from its parent's, radians. */
  readonly low: number;
  readonly high: number;
  /** Torque of action 1, N·m. */
  readonly gear: number;
  /** N·m·s. */
  readonly damping: number;
  /** N·m. */
  readonly stiffness: number;
  /** Moment of inertia of the drive, which turns with the joint, kg·m². */
  readonly armature: number;
}

export const PLANAR_GRAVITY = 9.81;

/**
 * The effect of torques on angular speeds, row by row: the inverse of the moments of inertia. The drives couple
 * neighbours.
 */
export function findTurning({ bodies, joints }: PlanarModel): Float64Array {
  const count = bodies.length;
  const inertia = findInertia({ bodies, joints });
  // Gauss and Jordan's elimination; the matrix is positive definite, so that no pivot is small.
  const inverse = new Float64Array(count * count);
  for (let row = 0; row < count; row++) inverse[row * count + row] = 1;
  for (let pivot = 0; pivot < count; pivot++) {
    const scale = 1 / inertia[pivot * count + pivot]!;
    for (let column = 0; column < count; column++) {
      inertia[pivot * count + column]! *= scale;
      inverse[pivot * count + column]! *= scale;
    }
    for (let row = 0; row < count; row++) {
      const factor = row === pivot ? 0 : inertia[row * count + pivot]!;
      for (let column = 0; column < count; column++) {
        inertia[row * count + column]! -= factor * inertia[pivot * count + column]!;
        inverse[row * count + column]! -= factor * inverse[pivot * count + column]!;
      }
    }
  }
  return inverse;
}

/** Moments of inertia of the bodies and, between neighbours, of the drives, row by row. */
export function findInertia({ bodies, joints }: Pick<PlanarModel, "bodies" | "joints">): Float64Array {
  const count = bodies.length;
  const inertia = new Float64Array(count * count);
  for (const [index, body] of bodies.entries()) inertia[index * count + index]! += body.inertia;
  for (const [index, { parent, armature }] of joints.entries()) {
    const child = index + 1;
    inertia[parent * count + parent]! += armature;
    inertia[child * count + child]! += armature;
    inertia[parent * count + child]! -= armature;
    inertia[child * count + parent]! -= armature;
  }
  return inertia;
}

/** `to` as seen from `from`. */
export function offset(from: Point, to: Point): Point {
  return [to[0] - from[0], to[1] - from[1]];
}

/** The model as constants of planar-body.wgsl. */
export function writePlanarConstants(model: PlanarModel): Record<string, string> {
  const { bodies, joints, feet, friction, substeps, rounds, seconds } = model;
  const armOf = (body: number, place: Point) => writePoint(offset(bodies[body]!.centre, place));
  return {
    BODIES: `${bodies.length}u`,
    JOINTS: `${joints.length}u`,
    FEET: `${feet.length}u`,
    FRICTION: writeFloat(friction),
    SUBSTEPS: `${substeps}u`,
    ROUNDS: `${rounds}u`,
    SECONDS: writeFloat(seconds / substeps),
    GRAVITY: writeFloat(PLANAR_GRAVITY),
    LIGHTNESSES: writeArray("f32", bodies, ({ mass }) => writeFloat(1 / mass)),
    TURNING: writeArray("f32", [...findTurning(model)], writeFloat),
    PARENTS: writeArray("u32", joints, ({ parent }) => `${parent}u`),
    PARENT_ARMS: writeArray("vec2f", joints, ({ parent, place }) => armOf(parent, place)),
    CHILD_ARMS: writeArray("vec2f", joints, ({ place }, joint) => armOf(joint + 1, place)),
    LIMITS: writeArray("vec2f", joints, ({ low, high }) => writePoint([low, high])),
    GEARS: writeArray("f32", joints, ({ gear }) => writeFloat(gear)),
    DAMPINGS: writeArray("f32", joints, ({ damping }) => writeFloat(damping)),
    STIFFNESSES: writeArray("f32", joints, ({ stiffness }) => writeFloat(stiffness)),
    FOOT_BODIES: writeArray("u32", feet, ({ body }) => `${body}u`),
    FOOT_ARMS: writeArray("vec2f", feet, ({ body, place }) => armOf(body, place)),
    FOOT_RADII: writeArray("f32", feet, ({ radius }) => writeFloat(radius)),
  };
}

function writeArray<T>(type: string, items: readonly T[], write: (item: T, index: number) => string): string {
  return `array<${type}, ${items.length}>(${items.map(write).join(", ")})`;
}

function writeFloat(value: number): string {
  return `f32(${value})`;
}

function writePoint([x, z]: Point): string {
  return `vec2f(${writeFloat(x)}, ${writeFloat(z)})`;
}
