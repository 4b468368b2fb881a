import { expect, test } from "vitest";
import { type OracleVectors, testDevices } from "./test-environment.ts";
import { seededUniform } from "../../kernels/seeded-uniform.ts";
import type { EnvironmentSpec } from "../../kernels/environments/environment-spec.ts";
import { BODY_NUMBERS, createPlanarBody } from "../../kernels/environments/planar-body/planar-body.reference.ts";
import {
  findInertia,
  offset,
  PLANAR_GRAVITY,
  type PlanarModel,
  type Point,
} from "../../kernels/environments/planar-body/planar-model.ts";

/** Bounds of the errors of a mechanics with substeps this long. */
export interface PlanarBounds {
  /** Energy that a step without action may add, J: the lift by corrections of places. A fall costs hundreds. */
  readonly riseJ: number;
  /**
   * Largest error of the angular momentum after a second of free flight, relative to that of tumbling: arms are of
   * predicted places.
   */
  readonly angularShare: number;
  /** Metres into the ground under the hardest random actions, and between both ends of a joint. */
  readonly sinkM: number;
  /** Radians beyond limits of joints. */
  readonly limitRad: number;
}

/** Steps of each recorded episode. */
const STEPS = 10;

/** Declares the invariants of an environment of planar bodies, and that its WGSL moves as its reference does. */
export function testPlanarBody(environment: EnvironmentSpec, model: PlanarModel, bounds: PlanarBounds): void {
  const body = createPlanarBody(model);
  const freedoms = 3 + model.joints.length;
  const still = new Float64Array(model.joints.length);

  function begin(episode: number, { lift, spread }: { readonly lift: number; readonly spread: number }): Float64Array {
    const drawn = [...seededUniform(7, episode, 2 * freedoms)];
    const state = new Float64Array(BODY_NUMBERS * model.bodies.length);
    const angles = model.joints.map(({ low, high }, joint) => (low + high + drawn[3 + joint]! * (high - low)) / 2);
    const places = [0, model.bodies[0]!.centre[1] + lift, spread * drawn[2]!, ...angles];
    body.pose(
      state,
      places,
      drawn.slice(freedoms).map((number) => 3 * spread * number),
    );
    return state;
  }

  test("gains no energy by falling, being folded and lying", () => {
    for (let episode = 0; episode < 6; episode++) {
      const state = begin(episode, { lift: 0.2, spread: 1 });
      const atFirst = findEnergy(model, state);
      let before = atFirst;
      for (let taken = 0; taken < 2 / model.seconds; taken++) {
        body.step(state, still);
        const after = findEnergy(model, state);
        expect(after - before, `episode ${episode}, step ${taken}`).toBeLessThan(bounds.riseJ);
        before = after;
      }
      expect(before).toBeLessThan(atFirst - 10);
    }
  });

  test("keeps its momentum in free flight", () => {
    for (let episode = 0; episode < 6; episode++) {
      const state = begin(episode, { lift: 20, spread: 1 });
      const before = findMomentum(model, state);
      const steps = Math.round(1 / model.seconds);
      for (let taken = 0; taken < steps; taken++) body.step(state, still);
      const after = findMomentum(model, state);
      expect(after.x).toBeCloseTo(before.x, 9);
      expect(after.z).toBeCloseTo(before.z - before.mass * PLANAR_GRAVITY * steps * model.seconds, 9);
      expect(Math.abs(after.angular - before.angular)).toBeLessThan(bounds.angularShare * before.tumbling);
    }
  });

  test("stays above the ground, together and within its limits under the hardest actions", () => {
    for (let episode = 0; episode < 4; episode++) {
      const state = begin(episode, { lift: 0, spread: 0.1 });
      const drawn = seededUniform(8, episode, still.length * 60);
      for (let taken = 0; taken < 60; taken++) {
        const action = still.map((_, joint) => Math.sign(drawn[taken * still.length + joint]!));
        body.step(state, action);
        for (const foot of model.feet.keys()) expect(body.clearance(state, foot)).toBeGreaterThan(-bounds.sinkM);
        for (const [index, { parent, low, high, place }] of model.joints.entries()) {
          const angle = numberOf(state, index + 1, 2) - numberOf(state, parent, 2);
          expect(angle).toBeGreaterThan(low - bounds.limitRad);
          expect(angle).toBeLessThan(high + bounds.limitRad);
          const [ax, az] = findPoint(model, state, parent, place);
          const [bx, bz] = findPoint(model, state, index + 1, place);
          expect(Math.hypot(bx - ax, bz - az)).toBeLessThan(bounds.sinkM);
        }
      }
    }
  });

  // The rounding of a place to f32 (6e-8 of a metre) is one of a speed a substep's rate as large (500/s), in every round.
  // Then contacts make it chaotic: a foot that touches a substep earlier or later moves everything.
  testDevices(environment, record(environment, [0, 1, 2]), { first: 1e-3, later: 2e-2 });

  /** Recorded by our own reference: no other implementation has these mechanics. */
  function record({ reference }: EnvironmentSpec, episodes: readonly number[]): OracleVectors {
    return {
      source: "the reference",
      episodes: episodes.map((episode) => {
        const state = begin(episode, { lift: 0.02 * episode, spread: 0.1 }).map(Math.fround);
        const drawn = seededUniform(9, episode, still.length * STEPS);
        const states = [[...state]];
        const moves = Array.from({ length: STEPS }, (_, taken) => {
          const action = [...drawn.subarray(taken * still.length, (taken + 1) * still.length)];
          const { reward, terminated } = reference!.step(state, Float64Array.from(action), {
            words: () => [0, 0, 0, 0],
          });
          states.push([...state]);
          return { action, reward, terminated };
        });
        return {
          states,
          actions: moves.map(({ action }) => action),
          rewards: moves.map(({ reward }) => reward),
          terminated: moves.map(({ terminated }) => terminated),
        };
      }),
    };
  }
}

function numberOf(state: Float64Array, body: number, number: number): number {
  return state[body * BODY_NUMBERS + number]!;
}

/** Position in a body of a point given in the model's pose. */
function findPoint({ bodies }: PlanarModel, state: Float64Array, body: number, place: Point): Point {
  const [x, z] = offset(bodies[body]!.centre, place);
  const [sine, cosine] = [Math.sin(numberOf(state, body, 2)), Math.cos(numberOf(state, body, 2))];
  return [numberOf(state, body, 0) + cosine * x - sine * z, numberOf(state, body, 1) + sine * x + cosine * z];
}

/** Energy of motion, height and springs, J. */
function findEnergy(model: PlanarModel, state: Float64Array): number {
  const count = model.bodies.length;
  const inertia = findInertia(model);
  const moving = model.bodies.map(({ mass }, body) => {
    const turning = model.bodies.map(
      (_, other) => inertia[body * count + other]! * numberOf(state, body, 5) * numberOf(state, other, 5),
    );
    const square = numberOf(state, body, 3) ** 2 + numberOf(state, body, 4) ** 2;
    return mass * (PLANAR_GRAVITY * numberOf(state, body, 1) + square / 2) + sum(turning) / 2;
  });
  const springs = model.joints.map(
    ({ parent, stiffness }, joint) =>
      (stiffness * (numberOf(state, joint + 1, 2) - numberOf(state, parent, 2)) ** 2) / 2,
  );
  return sum(moving) + sum(springs);
}

/** Linear momentum, and angular about the centre of all; `tumbling` is the sum without cancellation. */
function findMomentum({ bodies }: PlanarModel, state: Float64Array) {
  const mass = sum(bodies.map((body) => body.mass));
  const mean = (number: number) => sum(bodies.map((body, index) => body.mass * numberOf(state, index, number))) / mass;
  const [centreX, centreZ] = [mean(0), mean(1)];
  const angular = bodies.map((body, index) => {
    const [x, z] = [numberOf(state, index, 0) - centreX, numberOf(state, index, 1) - centreZ];
    const orbit = x * (numberOf(state, index, 4) - mean(4)) - z * (numberOf(state, index, 3) - mean(3));
    return body.inertia * numberOf(state, index, 5) + body.mass * orbit;
  });
  return { mass, x: mass * mean(3), z: mass * mean(4), angular: sum(angular), tumbling: sum(angular.map(Math.abs)) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
