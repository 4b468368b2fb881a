// The twin of sinuca.wgsl: x of all balls, z of all balls, bits of those on the table. Four tables at a time; a lane
// whose balls rest waits for the others.

const BALLS: i32 = 8;
const HALF_LENGTH: f32 = 1.27;
const HALF_WIDTH: f32 = 0.635;
const CUE_RADIUS: f32 = 0.028;
const RADIUS: f32 = 0.026;
const POCKET_RADIUS: f32 = 0.05;
const BALL_RESTITUTION: f32 = 0.89;
const CUSHION_RESTITUTION: f32 = 0.75;
const DECELERATION: f32 = 0.0981;
const CUE_X: f32 = -0.635;

/** Bytes between the numbers of a ball: a vector each, eight of a kind. First the state, then what a shot needs. */
const Z: usize = 128;
const ON_TABLE: usize = 256;
const SPEED_X: usize = 272;
const SPEED_Z: usize = 400;
const ON: usize = 528; // masks
const MOVING: usize = 656;
const MOVED: usize = 784; // of this substep, before anything collides
const SQUARE: usize = 912; // of the pace

/** The ball that is aimed at, and its place. */
let aim: v128 = i32x4(0, 0, 0, 0);
let aimX: v128 = i32x4(0, 0, 0, 0);
let aimZ: v128 = i32x4(0, 0, 0, 0);
/** From a place to the pocket nearest to it. */
let wayX: v128 = i32x4(0, 0, 0, 0);
let wayZ: v128 = i32x4(0, 0, 0, 0);
/** The ball that the cue ball met first; BALLS: none yet. */
let firstHit: v128 = i32x4(0, 0, 0, 0);

function resetLane(lane: i32): void {
  drawWords();
  const apart = <f32>2.1 * RADIUS;
  putNumber(lane, 0, CUE_X);
  putNumber(lane, BALLS, (2 * toUniform(word0) - 1) * <f32>CUE_SPREAD);
  let ball = 1;
  for (let row = 0; row < 4; row++) {
    // The last row has its last place only.
    for (let place = row < 3 ? 0 : 2; place < min(row + 1, 3); place++, ball++) {
      putNumber(lane, ball, -CUE_X + <f32>row * 0.866 * apart);
      putNumber(lane, BALLS + ball, (<f32>place - <f32>0.5 * <f32>row) * apart);
    }
  }
  store<u32>(locateWord(lane, 2 * BALLS), 0xff);
}

// @ts-ignore: decorator
@inline
function isOnTable(bits: v128, ball: i32): v128 {
  const bit = i32x4.splat(1 << ball);
  return i32x4.eq(v128.and(bits, bit), bit);
}

/** Leaves the lowest ball other than the cue ball that is on the table, 0 where there is none. */
function findAim(state: usize, bits: v128): void {
  aim = i32x4.splat(0);
  aimX = v128.load(state);
  aimZ = v128.load(state, 128);
  for (let ball = 7; ball > 0; ball--) {
    const on = isOnTable(bits, ball);
    const at = state + <usize>ball * VECTOR;
    aim = choose(i32x4.splat(ball), aim, on);
    aimX = choose(v128.load(at), aimX, on);
    aimZ = choose(v128.load(at, 128), aimZ, on);
  }
}

// @ts-ignore: decorator
@inline
function findPocket(x: v128, z: v128): void {
  const sideX = choose(all(HALF_LENGTH), all(-HALF_LENGTH), f32x4.ge(x, all(0)));
  const sideZ = choose(all(HALF_WIDTH), all(-HALF_WIDTH), f32x4.ge(z, all(0)));
  const corner = minus(sideX, x);
  wayX = choose(f32x4.neg(x), corner, f32x4.lt(f32x4.abs(x), f32x4.abs(corner)));
  wayZ = minus(sideZ, z);
}

// @ts-ignore: decorator
@inline
function squareOf(x: v128, z: v128): v128 {
  return multiplyAdd(times(x, x), z, z);
}

function observe(state: usize, observation: usize): void {
  const bits = v128.load(state, 256);
  findAim(state, bits);
  const cueX = v128.load(state);
  const cueZ = v128.load(state, 128);
  let left = i32x4.splat(0);
  for (let ball = 1; ball < BALLS; ball++) left = i32x4.sub(left, isOnTable(bits, ball));
  findPocket(aimX, aimZ);
  const apart = f32x4.sqrt(squareOf(minus(aimX, cueX), minus(aimZ, cueZ)));
  v128.store(observation, over(cueX, all(HALF_LENGTH)));
  v128.store(observation, over(cueZ, all(HALF_WIDTH)), 16);
  v128.store(observation, over(aimX, all(HALF_LENGTH)), 32);
  v128.store(observation, over(aimZ, all(HALF_WIDTH)), 48);
  v128.store(observation, over(findAngle(wayX, wayZ), all(3.14159265359)), 64);
  v128.store(observation, over(f32x4.min(apart, all(2)), all(2)), 80);
  v128.store(observation, toShare(aim), 96);
  v128.store(observation, toShare(left), 112);
}

/** 0 to 7 as −1 to 1. */
// @ts-ignore: decorator
@inline
function toShare(count: v128): v128 {
  return minus(times(over(f32x4.convert_i32x4_s(count), all(7)), all(2)), all(1));
}

function step(state: usize, action: usize): v128 {
  const before = v128.load(state, 256);
  findAim(state, before);
  const target = aim;
  findPocket(aimX, aimZ);
  const distance = f32x4.sqrt(squareOf(wayX, wayZ));
  memory.fill(state + SPEED_X, 0, ON - SPEED_X);
  for (let ball = 0; ball < BALLS; ball++) v128.store(state + <usize>ball * VECTOR, isOnTable(before, ball), 528);
  strike(state, action);
  firstHit = i32x4.splat(BALLS);
  let active = live;
  for (let taken = 0; taken < SUBSTEPS; taken++) {
    const fastest = findFastest(state);
    active = v128.and(active, f32x4.gt(fastest, all(0)));
    if (!v128.any_true(active)) break;
    const share = EXPLICIT == 1 ? all(<f32>SECONDS) : f32x4.min(all(<f32>SECONDS), over(all(<f32>LONGEST_MOVE), fastest));
    moveBalls(state, share, active);
    collideBalls(state);
    endMoves(state);
  }
  return judge(state, target, distance);
}

/** Gives the cue ball its speed: up to an eighth turn off the line to the ball that is aimed at. */
function strike(state: usize, action: usize): void {
  findSineCosine(times(minus(times(all(2), v128.load(action)), all(1)), all(0.785398163)));
  const lineX = minus(aimX, v128.load(state));
  const lineZ = minus(aimZ, v128.load(state, 128));
  const length = f32x4.max(f32x4.sqrt(squareOf(lineX, lineZ)), all(1e-6));
  const alongX = over(lineX, length);
  const alongZ = over(lineZ, length);
  const pace = times(all(<f32>FASTEST), multiplyAdd(all(0.1), all(0.9), v128.load(action, 16)));
  v128.store(state, times(pace, minus(times(alongX, cosine), times(alongZ, sine))), 272);
  v128.store(state, times(pace, plus(times(alongX, sine), times(alongZ, cosine))), 400);
}

/** The fastest pace, 0 where everything rests; leaves which balls move, and how fast. */
function findFastest(state: usize): v128 {
  let most = all(0);
  for (let at = state; at < state + Z; at += VECTOR) {
    const square = v128.and(squareOf(v128.load(at, 272), v128.load(at, 400)), v128.load(at, 528));
    v128.store(at, square, 912);
    v128.store(at, f32x4.gt(square, all(0)), 656);
    most = f32x4.max(most, square);
  }
  return f32x4.sqrt(most);
}

/** Rolls every ball for a while: under constant deceleration, or by an explicit step of Euler. */
function moveBalls(state: usize, seconds: v128, active: v128): void {
  for (let at = state; at < state + Z; at += VECTOR) {
    const moving = v128.and(v128.load(at, 656), active);
    v128.store(at, moving, 656);
    v128.store(at, moving, 784);
    if (!v128.any_true(moving)) continue;
    const pace = choose(f32x4.sqrt(v128.load(at, 912)), all(1), moving);
    const slower = f32x4.max(minus(pace, times(all(DECELERATION), seconds)), all(0));
    let share = seconds; // of the way to the pace
    if (EXPLICIT == 0) {
      const rolled = minus(times(seconds, pace), times(times(all(0.5 * DECELERATION), seconds), seconds));
      const last = over(times(times(all(0.5), pace), pace), all(DECELERATION));
      share = over(choose(last, rolled, f32x4.eq(slower, all(0))), pace);
    }
    const move = v128.and(share, moving);
    const slow = choose(over(slower, pace), all(1), moving);
    const speedX = v128.load(at, 272);
    const speedZ = v128.load(at, 400);
    v128.store(at, multiplyAdd(v128.load(at), speedX, move));
    v128.store(at, multiplyAdd(v128.load(at, 128), speedZ, move), 128);
    v128.store(at, times(speedX, slow), 272);
    v128.store(at, times(speedZ, slow), 400);
  }
}

/** Pairs of which one at least moved, in order. Few are near, whoever moved: the rest is asked of those. */
function collideBalls(state: usize): void {
  for (let one = state; one < state + Z - VECTOR; one += VECTOR) {
    const oneMoved = v128.load(one, 784);
    const isMoving = v128.any_true(oneMoved);
    const reach: f32 = RADIUS + (one == state ? CUE_RADIUS : RADIUS);
    const square = all(reach * reach);
    let x = v128.load(one);
    let z = v128.load(one, 128);
    for (let other = one + VECTOR; other < state + Z; other += VECTOR) {
      if (!isMoving && !v128.any_true(v128.load(other, 784))) continue;
      const betweenX = minus(v128.load(other), x);
      const betweenZ = minus(v128.load(other, 128), z);
      const apart = squareOf(betweenX, betweenZ);
      const near = f32x4.lt(apart, square);
      if (!v128.any_true(near)) continue;
      const moved = v128.and(near, v128.or(oneMoved, v128.load(other, 784)));
      const hit = v128.and(v128.and(moved, v128.load(one, 528)), v128.load(other, 528));
      if (!v128.any_true(hit)) continue;
      collidePair(state, one, other, betweenX, betweenZ, apart, hit, reach);
      x = v128.load(one);
      z = v128.load(one, 128);
    }
  }
}

/** Pushes a pair apart that overlaps; where it approaches, both take the same impulse. */
function collidePair(
  state: usize,
  one: usize,
  other: usize,
  betweenX: v128,
  betweenZ: v128,
  square: v128,
  hit: v128,
  reach: f32,
): void {
  const apart = f32x4.sqrt(square);
  const isApart = f32x4.gt(apart, all(1e-9));
  const length = f32x4.max(apart, all(1e-9));
  const normalX = choose(over(betweenX, length), all(1), isApart);
  const normalZ = v128.and(over(betweenZ, length), isApart);
  const push = v128.and(times(all(0.5), minus(all(reach), apart)), hit);
  move(one, 0, f32x4.neg(times(push, normalX)));
  move(one, Z, f32x4.neg(times(push, normalZ)));
  move(other, 0, times(push, normalX));
  move(other, Z, times(push, normalZ));
  const closingX = minus(v128.load(one, 272), v128.load(other, 272));
  const closingZ = minus(v128.load(one, 400), v128.load(other, 400));
  const approach = multiplyAdd(times(closingX, normalX), closingZ, normalZ);
  const impulse = v128.and(times(all(0.5 * (1 + BALL_RESTITUTION)), f32x4.max(approach, all(0))), hit);
  move(one, SPEED_X, f32x4.neg(times(impulse, normalX)));
  move(one, SPEED_Z, f32x4.neg(times(impulse, normalZ)));
  move(other, SPEED_X, times(impulse, normalX));
  move(other, SPEED_Z, times(impulse, normalZ));
  v128.store(one, v128.or(v128.load(one, 656), hit), 656);
  v128.store(other, v128.or(v128.load(other, 656), hit), 656);
  if (one == state) {
    const first = v128.and(hit, i32x4.eq(firstHit, i32x4.splat(BALLS)));
    firstHit = choose(i32x4.splat(<i32>((other - state) / VECTOR)), firstHit, first);
  }
}

// @ts-ignore: decorator
@inline
function move(ball: usize, offset: usize, by: v128): void {
  v128.store(ball + offset, plus(v128.load(ball + offset), by));
}

/** Balls that moved fall into pockets, or meet cushions. */
function endMoves(state: usize): void {
  for (let at = state; at < state + Z; at += VECTOR) {
    const moving = v128.load(at, 656);
    if (!v128.any_true(moving)) continue;
    const x = v128.load(at);
    const z = v128.load(at, 128);
    // Pockets and cushions are at the edge.
    const isLong = f32x4.gt(f32x4.abs(x), all(HALF_LENGTH - CUE_RADIUS));
    const edge = v128.or(isLong, f32x4.gt(f32x4.abs(z), all(HALF_WIDTH - POCKET_RADIUS)));
    if (!v128.any_true(v128.and(edge, moving))) continue;
    findPocket(x, z);
    const near = f32x4.lt(squareOf(wayX, wayZ), all(POCKET_RADIUS * POCKET_RADIUS));
    const potted = v128.and(moving, near);
    v128.store(at, v128.andnot(v128.load(at, 528), potted), 528);
    const stays = v128.andnot(moving, potted);
    const radius = at == state ? CUE_RADIUS : RADIUS;
    meetCushion(at, 0, HALF_LENGTH - radius, stays);
    meetCushion(at, Z, HALF_WIDTH - radius, stays);
  }
}

/** What would be outside comes back from the cushion, as far as the slower way back takes it. */
// @ts-ignore: decorator
@inline
function meetCushion(ball: usize, offset: usize, bound: f32, mask: v128): void {
  const place = v128.load(ball + offset);
  const speed = v128.load(ball + offset, 272);
  const beyond = f32x4.gt(f32x4.abs(place), all(bound));
  const outward = v128.and(v128.and(beyond, f32x4.gt(times(place, speed), all(0))), mask);
  v128.store(ball + offset, choose(times(all(-CUSHION_RESTITUTION), speed), speed, outward), 272);
  const side = clamp(place, -bound, bound);
  const back = choose(minus(side, times(all(CUSHION_RESTITUTION), minus(place, side))), side, outward);
  v128.store(ball + offset, choose(clamp(back, -bound, bound), place, mask));
}

/** What the shot was worth; leaves the table for the next one. */
function judge(state: usize, target: v128, distance: v128): v128 {
  const before = v128.load(state, 256);
  let bits = i32x4.splat(1);
  let potted = i32x4.splat(0);
  let after = all(0);
  for (let ball = 1; ball < BALLS; ball++) {
    const at = state + <usize>ball * VECTOR;
    const on = v128.load(at, 528);
    bits = v128.or(bits, v128.and(on, i32x4.splat(1 << ball)));
    potted = i32x4.sub(potted, v128.andnot(isOnTable(before, ball), on));
    findPocket(v128.load(at), v128.load(at, 128));
    const isTarget = v128.and(on, i32x4.eq(target, i32x4.splat(ball)));
    after = choose(f32x4.sqrt(squareOf(wayX, wayZ)), after, isTarget);
  }
  const cueOn = v128.load(state, 528);
  v128.store(state, choose(v128.load(state), all(CUE_X), cueOn));
  v128.store(state, v128.and(v128.load(state, 128), cueOn), 128);
  v128.store(state, bits, 256);
  const foul = v128.or(v128.not(cueOn), i32x4.ne(firstHit, target));
  const gained = minus(f32x4.convert_i32x4_s(potted), v128.and(all(1), foul));
  reward = minus(plus(gained, distance), after);
  return i32x4.eq(bits, i32x4.splat(1));
}
