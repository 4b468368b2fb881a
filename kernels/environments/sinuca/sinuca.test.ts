import { beforeAll, describe, expect, test } from "vitest";
import { openRolloutDevices } from "../../../test/kernels/open-adapters.ts";
import type { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import { createDraws } from "../../../src/stats/random/draws.ts";
import { seededUniform } from "../../seeded-uniform.ts";
import { countStateWords } from "../environment-spec.ts";
import { PHYSICAL, sinucaPhysical, sinucaViva, VIVA } from "./sinuca.environment.ts";
import { collideBalls, setTable, SINUCA, type SinucaTable, strike, takeSubstep } from "./sinuca.reference.ts";

const TIMEOUT_MS = 300_000;
const WORDS = countStateWords(sinucaPhysical);
const NUMBERS = 3;
const BALLS = Array.from({ length: SINUCA.balls }, (_, ball) => ball);
const PAIRS = BALLS.flatMap((one) => BALLS.slice(one + 1).map((other) => [one, other] as const));

describe("sinuca", () => {
  let adapters: readonly DeviceHost[] = [];
  beforeAll(async () => {
    adapters = await openRolloutDevices(sinucaPhysical);
  }, TIMEOUT_MS);

  test("in a collision keeps momentum and loses relative speed by the restitution", () => {
    const table = setTable(startWith({ cue: [0, 0], ball: [0.03, 0.04] }));
    [table.speedX[0], table.speedZ[0], table.speedX[3], table.speedZ[3]] = [3, 1, -0.5, 0.25];
    const normal = [0.6, 0.8] as const;
    const along = () =>
      (table.speedX[0] - table.speedX[3]) * normal[0] + (table.speedZ[0] - table.speedZ[3]) * normal[1];
    const before = along();
    collideBalls(table, 0, 3);
    expect(table.speedX[0] + table.speedX[3]).toBeCloseTo(2.5, 12);
    expect(table.speedZ[0] + table.speedZ[3]).toBeCloseTo(1.25, 12);
    expect(along()).toBeCloseTo(-0.89 * before, 12);
    expect(Math.hypot(table.x[3] - table.x[0], table.z[3] - table.z[0])).toBeCloseTo(0.054, 12);
  });

  test("in physical has no energy from nowhere, and no ball goes through another or a cushion", () => {
    const [halfLength, halfWidth] = [SINUCA.halfLength - SINUCA.radius, SINUCA.halfWidth - SINUCA.radius];
    for (const [index, action] of listActions(24).entries()) {
      const table = setTable(rack(index));
      strike(table, 1, action, PHYSICAL);
      let energy = energyOf(table);
      let before = { x: table.x.slice(), z: table.z.slice() };
      let substeps = 0;
      const faults: string[] = [];
      for (; takeSubstep(table, PHYSICAL); substeps++) {
        if (energyOf(table) > energy * (1 + 1e-12)) faults.push("energy");
        energy = energyOf(table);
        for (const ball of BALLS)
          if (table.onTable[ball] && (Math.abs(table.x[ball]) > halfLength || Math.abs(table.z[ball]) > halfWidth))
            faults.push(`ball ${ball} outside`);
        for (const [one, other] of PAIRS) {
          if (!table.onTable[one] || !table.onTable[other]) continue;
          const [beforeX, beforeZ] = [before.x[other] - before.x[one], before.z[other] - before.z[one]];
          const [afterX, afterZ] = [table.x[other] - table.x[one], table.z[other] - table.z[one]];
          // A ball that went through another would be on its other side.
          if (beforeX * afterX + beforeZ * afterZ <= 0) faults.push(`ball ${one} through ${other}`);
        }
        before = { x: table.x.slice(), z: table.z.slice() };
      }
      expect(faults).toEqual([]);
      expect(substeps).toBeLessThan(PHYSICAL.substeps);
      expect(energy).toBe(0);
    }
  });

  test("in viva lets a fast ball through another that physical hits", () => {
    const start = startWith({ cue: [-0.5, 0.1], ball: [-0.1, 0.1] });
    for (const [mode, expected] of [
      [PHYSICAL, 3],
      [VIVA, null],
    ] as const) {
      const table = setTable(start);
      strike(table, 3, Float64Array.of(0.5, 1, 0), mode);
      const substeps = mode === VIVA ? 1 : 40;
      for (let taken = 0; taken < substeps; taken++) takeSubstep(table, mode);
      expect(table.firstHit).toBe(expected);
      expect(table.x[0] > table.x[3]).toBe(mode === VIVA);
    }
  });

  test.each([sinucaViva, sinucaPhysical])(
    "$name shoots on the GPU as the reference",
    { timeout: TIMEOUT_MS },
    async (spec) => {
      const actions = listActions(96);
      const places = seededUniform(11, 0, 4 * actions.length);
      const starts = actions.map((_, index) => {
        const [cueX, cueZ, x, z] = places.slice(4 * index, 4 * index + 4) as unknown as [
          number,
          number,
          number,
          number,
        ];
        return startWith({ cue: [0.6 * cueX - 0.5, 0.5 * cueZ], ball: [0.4 * x + 0.6, 0.5 * z] }).map(Math.fround);
      });
      const expected = actions.map((action, index) => {
        const state = starts[index].slice();
        const { reward, terminated } = spec.reference!.step(state, action, noDraws());
        const observation = new Float64Array(spec.observationSize);
        spec.reference!.observe(state, observation);
        const missed = state[3] === starts[index][3] && state[11] === starts[index][11];
        return { numbers: [...state, reward, ...observation], terminated, missed };
      });
      for (const adapter of adapters) {
        const trace = await shoot(adapter, spec.name, starts, actions);
        const differences = expected.map(({ numbers, terminated }, index) => {
          const { state, reward, observation } = readShot(trace, index);
          expect(trace.terminated[index]).toBe(terminated);
          const actual = [...state, reward, ...observation];
          return Math.max(...actual.map((number, at) => Math.abs(number - numbers[at])));
        });
        const [misses, hits] = [true, false].map((missed) =>
          differences.filter((_, index) => expected[index].missed === missed),
        );
        expect(misses.length).toBeGreaterThan(10);
        expect(hits.length).toBeGreaterThan(10);
        for (const difference of misses) expect(difference).toBeLessThan(1e-4);
        // Each hit takes rounding tens of times further; three in four shots have few.
        expect(hits.filter((difference) => difference < 1e-3).length).toBeGreaterThan(0.75 * hits.length);
      }
    },
  );

  test(
    "in physical leaves balls on the table on the GPU too, apart from each other",
    { timeout: TIMEOUT_MS },
    async () => {
      const actions = listActions(64);
      const starts = actions.map((_, index) => rack(index));
      for (const adapter of adapters) {
        const trace = await shoot(adapter, "sinuca-physical", starts, actions);
        for (const index of actions.keys()) {
          const table = setTable(readShot(trace, index).state);
          for (const ball of BALLS.filter((each) => table.onTable[each])) {
            expect(Math.abs(table.x[ball])).toBeLessThan(SINUCA.halfLength - SINUCA.radius + 1e-6);
            expect(Math.abs(table.z[ball])).toBeLessThan(SINUCA.halfWidth - SINUCA.radius + 1e-6);
          }
          for (const [one, other] of PAIRS.filter((pair) => pair.every((each) => table.onTable[each]))) {
            const apart = Math.hypot(table.x[other] - table.x[one], table.z[other] - table.z[one]);
            expect(apart).toBeGreaterThan(2 * SINUCA.radius - 0.01);
          }
        }
      }
    },
  );
});

/** The cue ball and ball 3 alone. */
function startWith({ cue, ball }: { cue: readonly [number, number]; ball: readonly [number, number] }): Float64Array {
  const state = new Float64Array(WORDS);
  [state[0], state[8], state[3], state[11], state[16]] = [cue[0], cue[1], ball[0], ball[1], 1 + 2 ** 3];
  return state;
}

function rack(episode: number): Float64Array {
  const state = new Float64Array(WORDS);
  sinucaPhysical.reference!.reset(state, createDraws({ seed: 1, stream: 1, member: 0, episode, step: 0 }));
  return state;
}

/** In turn anywhere, and straight at the ball. */
function listActions(count: number): Float64Array[] {
  const numbers = seededUniform(7, 0, 2 * count).map((number) => (number + 1) / 2);
  return Array.from({ length: count }, (_, index) => {
    const [angle, power] = numbers.slice(2 * index, 2 * index + 2) as unknown as [number, number];
    return Float64Array.of(index % 2 === 0 ? angle : 0.49 + 0.02 * angle, power, 0).map(Math.fround);
  });
}

function noDraws() {
  return { words: () => [0, 0, 0, 0] as const };
}

function energyOf({ speedX, speedZ, onTable }: SinucaTable): number {
  return BALLS.reduce((sum, ball) => sum + (onTable[ball] ? (speedX[ball] ** 2 + speedZ[ball] ** 2) / 2 : 0), 0);
}

function shoot(
  adapter: DeviceHost,
  environment: string,
  starts: readonly Float64Array[],
  actions: readonly Float64Array[],
) {
  const input = {
    environment,
    starts: Float64Array.from(starts.flatMap((start) => [...start])),
    actions: Float32Array.from(actions.flatMap((action) => [...action])),
    steps: 1,
    seed: 1,
  };
  expect(input.actions).toHaveLength(NUMBERS * starts.length);
  return adapter.work("replay", input, TIMEOUT_MS);
}

function readShot({ states, rewards, observations }: Awaited<ReturnType<typeof shoot>>, index: number) {
  const after = 2 * index + 1;
  const size = sinucaPhysical.observationSize;
  return {
    state: states.slice(WORDS * after, WORDS * (after + 1)),
    reward: rewards[index],
    observation: new Float32Array(observations).subarray(size * after, size * (after + 1)),
  };
}
