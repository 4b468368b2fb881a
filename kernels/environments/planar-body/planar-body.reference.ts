import { clip } from "../motion.reference.ts";
import { findTurning, offset, PLANAR_GRAVITY, type PlanarModel, type Point } from "./planar-model.ts";

/** Numbers of one body in a state: x, z, angle, and their speeds. */
export const BODY_NUMBERS = 6;

/**
 * Moves bodies one step on by small substeps, each of which predicts places and then corrects them until joints hold,
 * angles are within limits and feet above the ground (Müller et al., "Detailed rigid body simulation with extended
 * position based dynamics", SCA 2020). A correction of a place corrects its speed, so that momentum is kept.
 */
export function createPlanarBody(model: PlanarModel) {
  const { bodies, joints, feet, friction, rounds, substeps } = model;
  const count = bodies.length;
  const seconds = model.seconds / substeps;
  const turning = findTurning(model);
  const turn = (row: number, column: number) => turning[row * count + column]!;
  const anchors = joints.map(({ parent, place }, joint) => ({
    parent,
    child: joint + 1,
    inParent: offset(bodies[parent]!.centre, place),
    inChild: offset(bodies[joint + 1]!.centre, place),
    /** Effect of a torque between both on the speed between them. */
    give: turn(parent, parent) + turn(joint + 1, joint + 1) - 2 * turn(parent, joint + 1),
  }));
  const arms = feet.map(({ body, place }) => offset(bodies[body]!.centre, place));

  /** An impulse at an arm from a body's centre, with its moment: speeds, and places by as much as in a substep. */
  function push(state: Float64Array, body: number, impulse: Point, moment: number, time: number): void {
    const at = body * BODY_NUMBERS;
    for (const axis of [0, 1] as const) {
      const gain = impulse[axis] / bodies[body]!.mass;
      state[at + 3 + axis]! += gain;
      state[at + axis]! += time * gain;
    }
    twist(state, body, moment, time);
  }

  function twist(state: Float64Array, body: number, moment: number, time: number): void {
    for (let other = 0; other < count; other++) {
      const gain = turn(other, body) * moment;
      state[other * BODY_NUMBERS + 5]! += gain;
      state[other * BODY_NUMBERS + 2]! += time * gain;
    }
  }

  function drive(state: Float64Array, action: Float64Array): void {
    for (const [joint, { parent, child, give }] of anchors.entries()) {
      const { gear, damping, stiffness } = joints[joint]!;
      const speed = state[child * BODY_NUMBERS + 5]! - state[parent * BODY_NUMBERS + 5]!;
      const angle = state[child * BODY_NUMBERS + 2]! - state[parent * BODY_NUMBERS + 2]!;
      // Spring and damper by the speed that they lead to, so that no stiffness is too much.
      const wanted = gear * clip(action[joint]!, 1) - stiffness * (angle + seconds * speed) - damping * speed;
      const moment = (seconds * wanted) / (1 + seconds * (damping + seconds * stiffness) * give);
      twist(state, child, moment, 0);
      twist(state, parent, -moment, 0);
    }
  }

  function join(state: Float64Array, joint: number): void {
    const { parent, child, inParent, inChild } = anchors[joint]!;
    const a = parent * BODY_NUMBERS;
    const b = child * BODY_NUMBERS;
    const [ax, az] = rotate(inParent, state[a + 2]!);
    const [bx, bz] = rotate(inChild, state[b + 2]!);
    const gapX = state[b]! + bx - state[a]! - ax;
    const gapZ = state[b + 1]! + bz - state[a + 1]! - az;
    const [aa, ab, bb] = [turn(parent, parent), turn(parent, child), turn(child, child)];
    const light = 1 / bodies[parent]!.mass + 1 / bodies[child]!.mass;
    const xx = light + bb * bz * bz - 2 * ab * az * bz + aa * az * az;
    const xz = -bb * bx * bz + ab * (az * bx + ax * bz) - aa * ax * az;
    const zz = light + bb * bx * bx - 2 * ab * ax * bx + aa * ax * ax;
    const scale = -1 / (seconds * (xx * zz - xz * xz));
    const x = scale * (zz * gapX - xz * gapZ);
    const z = scale * (xx * gapZ - xz * gapX);
    push(state, child, [x, z], bx * z - bz * x, seconds);
    push(state, parent, [-x, -z], az * x - ax * z, seconds);
  }

  function limit(state: Float64Array, joint: number): void {
    const { parent, child, give } = anchors[joint]!;
    const { low, high } = joints[joint]!;
    const angle = state[child * BODY_NUMBERS + 2]! - state[parent * BODY_NUMBERS + 2]!;
    const moment = (Math.min(Math.max(angle, low), high) - angle) / (seconds * give);
    twist(state, child, moment, seconds);
    twist(state, parent, -moment, seconds);
  }

  /** `pressed` and `dragged`: impulses of the substep so far. */
  function stand(state: Float64Array, foot: number, pressed: Float64Array, dragged: Float64Array): void {
    const { body, radius } = feet[foot]!;
    const at = body * BODY_NUMBERS;
    const [x, z] = rotate(arms[foot]!, state[at + 2]!);
    const depth = radius - state[at + 1]! - z;
    if (depth <= 0) return;
    const light = 1 / bodies[body]!.mass;
    const own = turn(body, body);
    const up = depth / (seconds * (light + own * x * x));
    pressed[foot]! += up;
    push(state, body, [0, up], x * up, seconds);
    const sole = z - radius;
    const slip = state[at + 3]! - sole * state[at + 5]!;
    const before = dragged[foot]!;
    dragged[foot] = clip(before - slip / (light + own * sole * sole), friction * pressed[foot]!);
    const along = dragged[foot] - before;
    push(state, body, [along, 0], -sole * along, seconds);
  }

  /** Being pushed out of the ground is no jump. */
  function settle(state: Float64Array, foot: number): void {
    const { body } = feet[foot]!;
    const at = body * BODY_NUMBERS;
    const [x] = rotate(arms[foot]!, state[at + 2]!);
    const rise = state[at + 4]! + x * state[at + 5]!;
    if (rise <= 0) return;
    const down = -rise / (1 / bodies[body]!.mass + turn(body, body) * x * x);
    push(state, body, [0, down], x * down, 0);
  }

  function moveOn(state: Float64Array, action: Float64Array): void {
    for (let body = 0; body < count; body++) state[body * BODY_NUMBERS + 4]! -= seconds * PLANAR_GRAVITY;
    drive(state, action);
    for (let body = 0; body < count; body++)
      for (let axis = 0; axis < 3; axis++)
        state[body * BODY_NUMBERS + axis]! += seconds * state[body * BODY_NUMBERS + 3 + axis]!;
    const pressed = new Float64Array(feet.length);
    const dragged = new Float64Array(feet.length);
    for (let round = 0; round < rounds; round++) {
      for (const foot of feet.keys()) stand(state, foot, pressed, dragged);
      for (const joint of joints.keys()) {
        limit(state, joint);
        join(state, joint);
      }
    }
    for (const foot of feet.keys()) if (pressed[foot]! > 0) settle(state, foot);
  }

  return {
    /** A state from the place and angle of the first body, the angles between the others, and the speeds of all these. */
    pose(state: Float64Array, places: readonly number[], speeds: readonly number[]): void {
      state.set([...places.slice(0, 3), ...speeds.slice(0, 3)]);
      for (const [joint, { parent, child, inParent, inChild }] of anchors.entries()) {
        const a = parent * BODY_NUMBERS;
        const angle = state[a + 2]! + places[3 + joint]!;
        const spin = state[a + 5]! + speeds[3 + joint]!;
        const [ax, az] = rotate(inParent, state[a + 2]!);
        const [bx, bz] = rotate(inChild, angle);
        state.set(
          [
            state[a]! + ax - bx,
            state[a + 1]! + az - bz,
            angle,
            state[a + 3]! - az * state[a + 5]! + bz * spin,
            state[a + 4]! + ax * state[a + 5]! - bx * spin,
            spin,
          ],
          child * BODY_NUMBERS,
        );
      }
      const sunk = Math.max(0, -Math.min(...feet.keys().map((foot) => findClearance(state, foot))));
      for (let body = 0; body < count; body++) state[body * BODY_NUMBERS + 1]! += sunk;
    },

    /** Height, angles and speeds as `pose` takes them, less the place along the ground. */
    read(state: Float64Array, observation: Float64Array): void {
      const speedsAt = 2 + joints.length;
      observation.set([state[1]!, state[2]!]);
      observation.set(state.subarray(3, 6), speedsAt);
      for (const [joint, { parent, child }] of anchors.entries()) {
        const [a, b] = [parent * BODY_NUMBERS, child * BODY_NUMBERS];
        observation[2 + joint] = state[b + 2]! - state[a + 2]!;
        observation[speedsAt + 3 + joint] = state[b + 5]! - state[a + 5]!;
      }
    },

    /** Moves a state on and gives how far the first body came, m. All are moved back by as much: a float is finest at 0. */
    step(state: Float64Array, action: Float64Array): number {
      for (let substep = 0; substep < substeps; substep++) moveOn(state, action);
      const way = state[0]!;
      for (let body = 0; body < count; body++) state[body * BODY_NUMBERS]! -= way;
      return way;
    },

    clearance: findClearance,
  };

  /** Height of a foot's lowest point, m. */
  function findClearance(state: Float64Array, foot: number): number {
    const { body, radius } = feet[foot]!;
    const at = body * BODY_NUMBERS;
    return state[at + 1]! + rotate(arms[foot]!, state[at + 2]!)[1] - radius;
  }
}

function rotate([x, z]: Point, angle: number): Point {
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  return [cosine * x - sine * z, sine * x + cosine * z];
}
