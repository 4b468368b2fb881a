import { toUniform } from "../../../src/stats/random/draws.ts";
import type { EnvironmentReference } from "../environment-spec.ts";

/** Metres, seconds; the origin is the middle of the table, x along it. */
export const SINUCA = {
  balls: 8,
  halfLength: 1.27,
  halfWidth: 0.635,
  cueRadius: 0.028,
  radius: 0.026,
  pocketRadius: 0.05,
  ballRestitution: 0.89,
  cushionRestitution: 0.75,
  deceleration: 0.01 * 9.81,
  cueX: -0.635,
} as const;

/** The differences between `viva` and `physical`. */
export interface SinucaMode {
  /** One explicit step of Euler of `longestSeconds` each time. */
  readonly explicit: boolean;
  /** Of the cue ball at full power, in m/s. */
  readonly fastest: number;
  readonly substeps: number;
  readonly longestSeconds: number;
  /** The way of the fastest ball in one substep, in metres. */
  readonly longestMove: number;
  /** How far the cue ball may start beside the middle. */
  readonly cueSpread: number;
}

/** Balls in motion; those that are not `onTable` rest in pockets. */
export interface SinucaTable {
  readonly x: Float64Array;
  readonly z: Float64Array;
  readonly speedX: Float64Array;
  readonly speedZ: Float64Array;
  readonly onTable: boolean[];
  /** The ball that the cue ball met first. */
  firstHit: number | null;
}

const BALLS = Array.from({ length: SINUCA.balls }, (_, ball) => ball);
/** Rows and places of balls 1 to 7, in distances of the rack. */
const RACK = [
  [0, 0],
  [1, -0.5],
  [1, 0.5],
  [2, -1],
  [2, 0],
  [2, 1],
  [3, 0.5],
] as const;
/** Numbers of a state: x of all balls, z of all balls, a bit for each that is on the table. */
const Z = SINUCA.balls;
const ON_TABLE = 2 * SINUCA.balls;
const CUE_BALL = 1;

/** Sinuca; one step is a shot. */
export function createSinuca(mode: SinucaMode): EnvironmentReference {
  return {
    reset(state, draws) {
      const apart = 2.1 * SINUCA.radius;
      state[0] = SINUCA.cueX;
      state[Z] = (2 * toUniform(draws.words()[0]) - 1) * mode.cueSpread;
      for (const [index, [row, place]] of RACK.entries()) {
        state[index + 1] = -SINUCA.cueX + row * 0.866 * apart;
        state[Z + index + 1] = place * apart;
      }
      state[ON_TABLE] = 2 ** SINUCA.balls - 1;
    },
    observe(state, observation) {
      const aim = aimOf(state[ON_TABLE]!);
      const [cueX, cueZ, x, z] = [state[0]!, state[Z]!, state[aim]!, state[Z + aim]!];
      const [wayX, wayZ] = toPocket(x, z);
      const left = BALLS.filter((ball) => ball > 0 && isSet(state[ON_TABLE]!, ball)).length;
      observation.set([
        cueX / SINUCA.halfLength,
        cueZ / SINUCA.halfWidth,
        x / SINUCA.halfLength,
        z / SINUCA.halfWidth,
        Math.atan2(wayZ, wayX) / Math.PI,
        Math.min(Math.hypot(x - cueX, z - cueZ), 2) / 2,
        (aim / 7) * 2 - 1,
        (left / 7) * 2 - 1,
      ]);
    },
    step(state, action) {
      const before = state[ON_TABLE]!;
      const aim = aimOf(before);
      const distance = Math.hypot(...toPocket(state[aim]!, state[Z + aim]!));
      const table = setTable(state);
      strike(table, aim, action, mode);
      for (let taken = 0; taken < mode.substeps && takeSubstep(table, mode); taken++);
      const cuePotted = !table.onTable[0];
      if (cuePotted) [table.x[0], table.z[0]] = [SINUCA.cueX, 0];
      const after = table.onTable[aim] ? Math.hypot(...toPocket(table.x[aim]!, table.z[aim]!)) : 0;
      const potted = BALLS.filter((ball) => ball > 0 && isSet(before, ball) && !table.onTable[ball]).length;
      const foul = cuePotted || table.firstHit !== aim ? 1 : 0;
      state.set(table.x, 0);
      state.set(table.z, Z);
      state[ON_TABLE] = BALLS.reduce((bits, ball) => bits | (table.onTable[ball] ? 1 << ball : 0), CUE_BALL);
      return { reward: potted - foul + distance - after, terminated: state[ON_TABLE] === CUE_BALL };
    },
  };
}

/** The balls of a state, at rest. */
export function setTable(state: Float64Array): SinucaTable {
  return {
    x: state.slice(0, Z),
    z: state.slice(Z, ON_TABLE),
    speedX: new Float64Array(SINUCA.balls),
    speedZ: new Float64Array(SINUCA.balls),
    onTable: BALLS.map((ball) => isSet(state[ON_TABLE]!, ball)),
    firstHit: null,
  };
}

/** Gives the cue ball the speed of an action, up to an eighth turn off the line to the ball that is aimed at. */
export function strike(table: SinucaTable, aim: number, action: Float64Array, { fastest }: SinucaMode): void {
  const line = Math.atan2(table.z[aim]! - table.z[0]!, table.x[aim]! - table.x[0]!);
  const angle = line + ((2 * action[0]! - 1) * Math.PI) / 4;
  const speed = fastest * (0.1 + 0.9 * action[1]!);
  table.speedX[0] = speed * Math.cos(angle);
  table.speedZ[0] = speed * Math.sin(angle);
}

/** Lets time go on a little. False where everything rests. */
export function takeSubstep(table: SinucaTable, { explicit, longestSeconds, longestMove }: SinucaMode): boolean {
  const fastest = Math.max(...BALLS.map((ball) => paceOf(table, ball)));
  if (fastest === 0) return false;
  const seconds = explicit ? longestSeconds : Math.min(longestSeconds, longestMove / fastest);
  const moved = BALLS.map((ball) => paceOf(table, ball) > 0);
  for (const ball of BALLS) roll(table, ball, seconds, explicit);
  for (const one of BALLS)
    for (const other of BALLS.slice(one + 1)) if (moved[one] || moved[other]) collideBalls(table, one, other);
  for (const ball of BALLS) {
    if (!table.onTable[ball] || Math.hypot(...toPocket(table.x[ball]!, table.z[ball]!)) >= SINUCA.pocketRadius)
      continue;
    table.onTable[ball] = false;
    table.speedX[ball] = table.speedZ[ball] = 0;
  }
  for (const ball of BALLS) {
    if (!table.onTable[ball]) continue;
    reflect(table.x, table.speedX, ball, SINUCA.halfLength);
    reflect(table.z, table.speedZ, ball, SINUCA.halfWidth);
  }
  return true;
}

function roll(table: SinucaTable, ball: number, seconds: number, explicit: boolean): void {
  const { x, z, speedX, speedZ } = table;
  const pace = paceOf(table, ball);
  if (pace === 0) return;
  const { deceleration } = SINUCA;
  const slower = Math.max(pace - deceleration * seconds, 0);
  const rolled = slower === 0 ? pace ** 2 / (2 * deceleration) : seconds * pace - (deceleration * seconds ** 2) / 2;
  const way = explicit ? seconds * pace : rolled;
  x[ball]! += (speedX[ball]! * way) / pace;
  z[ball]! += (speedZ[ball]! * way) / pace;
  speedX[ball]! *= slower / pace;
  speedZ[ball]! *= slower / pace;
}

/** A pair that overlaps is pushed apart; where it approaches, both take the same impulse. */
export function collideBalls(table: SinucaTable, one: number, other: number): void {
  const { x, z, speedX, speedZ, onTable } = table;
  if (!onTable[one] || !onTable[other]) return;
  const [betweenX, betweenZ] = [x[other]! - x[one]!, z[other]! - z[one]!];
  const apart = Math.hypot(betweenX, betweenZ);
  const overlap = radiusOf(one) + radiusOf(other) - apart;
  if (overlap <= 0) return;
  const [normalX, normalZ] = apart > 1e-9 ? [betweenX / apart, betweenZ / apart] : [1, 0];
  x[one]! -= (overlap / 2) * normalX;
  z[one]! -= (overlap / 2) * normalZ;
  x[other]! += (overlap / 2) * normalX;
  z[other]! += (overlap / 2) * normalZ;
  const approach = (speedX[one]! - speedX[other]!) * normalX + (speedZ[one]! - speedZ[other]!) * normalZ;
  const impulse = ((1 + SINUCA.ballRestitution) / 2) * Math.max(approach, 0);
  speedX[one]! -= impulse * normalX;
  speedZ[one]! -= impulse * normalZ;
  speedX[other]! += impulse * normalX;
  speedZ[other]! += impulse * normalZ;
  if (one === 0) table.firstHit ??= other;
}

/** A ball beyond the cushion comes back, as far as its lower speed takes it. */
function reflect(places: Float64Array, speeds: Float64Array, ball: number, half: number): void {
  const bound = half - radiusOf(ball);
  const place = places[ball]!;
  if (Math.abs(place) <= bound) return;
  const side = Math.sign(place) * bound;
  const outward = place * speeds[ball]! > 0;
  const back = outward ? side - SINUCA.cushionRestitution * (place - side) : side;
  places[ball] = Math.min(bound, Math.max(-bound, back));
  if (outward) speeds[ball]! *= -SINUCA.cushionRestitution;
}

/** From a place to the pocket nearest to it: a corner, or the middle of a long side. */
function toPocket(x: number, z: number): [number, number] {
  const sideX = x >= 0 ? SINUCA.halfLength : -SINUCA.halfLength;
  const wayZ = (z >= 0 ? SINUCA.halfWidth : -SINUCA.halfWidth) - z;
  return Math.abs(x) < Math.abs(sideX - x) ? [-x, wayZ] : [sideX - x, wayZ];
}

function paceOf({ speedX, speedZ }: SinucaTable, ball: number): number {
  return Math.hypot(speedX[ball]!, speedZ[ball]!);
}

function radiusOf(ball: number): number {
  return ball === 0 ? SINUCA.cueRadius : SINUCA.radius;
}

/** The lowest ball that is left, other than the cue ball. */
function aimOf(onTable: number): number {
  return BALLS.find((ball) => ball > 0 && isSet(onTable, ball)) ?? 0;
}

function isSet(bits: number, ball: number): boolean {
  return ((bits >>> ball) & 1) === 1;
}
