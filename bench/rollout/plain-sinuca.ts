import type { PlainTask } from "./plain-tasks.ts";

const BALLS = 8;
const HALF_LENGTH = 1.27;
const HALF_WIDTH = 0.635;
const REACH = 0.052;
const CUE_REACH = 0.054;
const SECONDS = 1 / 60;
const SLOWING = 0.0981 * SECONDS;
const APART = 2.1 * 0.026;

/** Sinuca in its mode `viva`: 200 coarse steps a shot. Resting balls are skipped. */
export function createPlainSinuca(): PlainTask {
  const x = new Float64Array(BALLS);
  const z = new Float64Array(BALLS);
  const speedX = new Float64Array(BALLS);
  const speedZ = new Float64Array(BALLS);
  let onTable = 0xff;
  let moving = 1;
  let firstHit = BALLS;

  const aim = () => {
    const others = onTable & ~1;
    return others === 0 ? 0 : 31 - Math.clz32(others & -others);
  };
  const pocketX = (ball: number) => {
    const place = x[ball]!;
    const corner = (place >= 0 ? HALF_LENGTH : -HALF_LENGTH) - place;
    return Math.abs(place) < Math.abs(corner) ? -place : corner;
  };
  const pocketZ = (ball: number) => (z[ball]! >= 0 ? HALF_WIDTH : -HALF_WIDTH) - z[ball]!;
  const pocketDistance = (ball: number) => {
    const [wayX, wayZ] = [pocketX(ball), pocketZ(ball)];
    return Math.sqrt(wayX * wayX + wayZ * wayZ);
  };

  /** False where all balls rest. */
  function moveBalls(): boolean {
    for (let ball = 0; ball < BALLS; ball++) {
      if ((moving & (1 << ball)) === 0) continue;
      const pace = Math.sqrt(speedX[ball]! * speedX[ball]! + speedZ[ball]! * speedZ[ball]!);
      if (pace === 0) {
        moving &= ~(1 << ball);
        continue;
      }
      x[ball]! += speedX[ball]! * SECONDS;
      z[ball]! += speedZ[ball]! * SECONDS;
      const slow = pace > SLOWING ? (pace - SLOWING) / pace : 0;
      speedX[ball]! *= slow;
      speedZ[ball]! *= slow;
    }
    return moving !== 0;
  }

  function collideBalls(): void {
    const moved = moving;
    for (let one = 0; one < BALLS - 1; one++) {
      if ((onTable & (1 << one)) === 0) continue;
      const reach = one === 0 ? CUE_REACH : REACH;
      const isMoving = (moved & (1 << one)) !== 0;
      for (let other = one + 1; other < BALLS; other++) {
        const bit = 1 << other;
        if ((onTable & bit) === 0 || (!isMoving && (moved & bit) === 0)) continue;
        const betweenX = x[other]! - x[one]!;
        const betweenZ = z[other]! - z[one]!;
        const square = betweenX * betweenX + betweenZ * betweenZ;
        if (square >= reach * reach) continue;
        collidePair(one, other, betweenX, betweenZ, Math.sqrt(square), reach);
      }
    }
  }

  function collidePair(one: number, other: number, betweenX: number, betweenZ: number, apart: number, reach: number) {
    const normalX = apart > 1e-9 ? betweenX / apart : 1;
    const normalZ = apart > 1e-9 ? betweenZ / apart : 0;
    const push = 0.5 * (reach - apart);
    x[one]! -= push * normalX;
    z[one]! -= push * normalZ;
    x[other]! += push * normalX;
    z[other]! += push * normalZ;
    const approach = (speedX[one]! - speedX[other]!) * normalX + (speedZ[one]! - speedZ[other]!) * normalZ;
    if (approach > 0) {
      const impulse = 0.945 * approach;
      speedX[one]! -= impulse * normalX;
      speedZ[one]! -= impulse * normalZ;
      speedX[other]! += impulse * normalX;
      speedZ[other]! += impulse * normalZ;
    }
    moving |= (1 << one) | (1 << other);
    if (one === 0 && firstHit === BALLS) firstHit = other;
  }

  function endMoves(): void {
    for (let ball = 0; ball < BALLS; ball++) {
      if ((moving & (1 << ball)) === 0) continue;
      const wayX = pocketX(ball);
      const wayZ = pocketZ(ball);
      if (wayX * wayX + wayZ * wayZ < 0.0025) {
        onTable &= ~(1 << ball);
        moving &= ~(1 << ball);
        speedX[ball] = speedZ[ball] = 0;
        continue;
      }
      const radius = ball === 0 ? 0.028 : 0.026;
      reflect(x, speedX, ball, HALF_LENGTH - radius);
      reflect(z, speedZ, ball, HALF_WIDTH - radius);
    }
  }

  return {
    observationSize: 8,
    outputs: 3,
    stepLimit: 3,
    isBounded: true,
    ended: false,
    reset() {
      onTable = 0xff;
      let ball = 1;
      x[0] = -HALF_LENGTH / 2;
      z[0] = 0;
      for (let row = 0; row < 4; row++) {
        for (let place = row < 3 ? 0 : 2; place < Math.min(row + 1, 3); place++, ball++) {
          x[ball] = HALF_LENGTH / 2 + row * 0.866 * APART;
          z[ball] = (place - 0.5 * row) * APART;
        }
      }
      this.ended = false;
    },
    observe(observation) {
      const target = aim();
      const left = 7 - countZeros(onTable);
      observation[0] = x[0]! / HALF_LENGTH;
      observation[1] = z[0]! / HALF_WIDTH;
      observation[2] = x[target]! / HALF_LENGTH;
      observation[3] = z[target]! / HALF_WIDTH;
      observation[4] = Math.atan2(pocketZ(target), pocketX(target)) / Math.PI;
      const [wayX, wayZ] = [x[target]! - x[0]!, z[target]! - z[0]!];
      observation[5] = Math.min(Math.sqrt(wayX * wayX + wayZ * wayZ), 2) / 2;
      observation[6] = (target / 7) * 2 - 1;
      observation[7] = (left / 7) * 2 - 1;
    },
    step(outputs) {
      const before = onTable;
      const target = aim();
      const distance = pocketDistance(target);
      const line = Math.atan2(z[target]! - z[0]!, x[target]! - x[0]!);
      const angle = line + ((2 * outputs[0]! - 1) * Math.PI) / 4;
      const pace = 50 * (0.1 + 0.9 * outputs[1]!);
      speedX.fill(0);
      speedZ.fill(0);
      speedX[0] = pace * Math.cos(angle);
      speedZ[0] = pace * Math.sin(angle);
      moving = 1;
      firstHit = BALLS;
      for (let taken = 0; taken < 200 && moveBalls(); taken++) {
        collideBalls();
        endMoves();
      }
      const after = (onTable & (1 << target)) === 0 ? 0 : pocketDistance(target);
      const potted = countZeros(onTable | 1) - countZeros(before | 1);
      const cuePotted = (onTable & 1) === 0;
      if (cuePotted) {
        x[0] = -HALF_LENGTH / 2;
        z[0] = 0;
        onTable |= 1;
      }
      this.ended = onTable === 1;
      return potted - (cuePotted || firstHit !== target ? 1 : 0) + distance - after;
    },
  };
}

function reflect(places: Float64Array, speeds: Float64Array, ball: number, bound: number): void {
  const place = places[ball]!;
  if (place <= bound && place >= -bound) return;
  const side = place > 0 ? bound : -bound;
  if (place * speeds[ball]! > 0) {
    places[ball] = Math.min(bound, Math.max(-bound, side - 0.75 * (place - side)));
    speeds[ball]! *= -0.75;
  } else {
    places[ball] = side;
  }
}

/** Trailing zeros of the eight lowest bits. */
function countZeros(bits: number): number {
  let zeros = 0;
  for (let bit = 0; bit < BALLS; bit++) zeros += ((bits >> bit) & 1) ^ 1;
  return zeros;
}
