// The twin of acrobot.wgsl: two angles, their speeds.

const GRAVITY: f32 = 9.8;
const SECONDS: f32 = 0.2;
const MAX_SPEED_1: f32 = 12.5663706; // 4π
const MAX_SPEED_2: f32 = 28.2743339; // 9π

let pull1: v128 = i32x4(0, 0, 0, 0);
let pull2: v128 = i32x4(0, 0, 0, 0);

function resetLane(lane: i32): void {
  drawWords();
  putNumber(lane, 0, (toUniform(word0) - 0.5) * 0.2);
  putNumber(lane, 1, (toUniform(word1) - 0.5) * 0.2);
  putNumber(lane, 2, (toUniform(word2) - 0.5) * 0.2);
  putNumber(lane, 3, (toUniform(word3) - 0.5) * 0.2);
}

function observe(state: usize, observation: usize): void {
  findSineCosine(v128.load(state));
  v128.store(observation, cosine);
  v128.store(observation, sine, 16);
  findSineCosine(v128.load(state, 16));
  v128.store(observation, cosine, 32);
  v128.store(observation, sine, 48);
  v128.store(observation, v128.load(state, 32), 64);
  v128.store(observation, v128.load(state, 48), 80);
}

/** Leaves how fast the speeds change under a torque at the elbow. */
function findPulls(angle1: v128, angle2: v128, speed1: v128, speed2: v128, torque: v128): void {
  findSineCosine(angle2);
  const bent = sine;
  const d1 = plus(all(3.5), cosine);
  const d2 = multiplyAdd(all(1.25), all(0.5), cosine);
  const phi2 = times(all(0.5 * GRAVITY), findSine(plus(angle1, angle2)));
  const share = over(d2, d1);
  let phi1 = multiplyAdd(phi2, all(1.5 * GRAVITY), findSine(angle1));
  phi1 = minus(phi1, times(times(speed2, bent), multiplyAdd(speed1, all(0.5), speed2)));
  const swing = times(times(all(0.5), times(speed1, speed1)), bent);
  const pull = minus(minus(multiplyAdd(torque, share, phi1), swing), phi2);
  pull2 = over(pull, minus(all(1.25), times(share, d2)));
  pull1 = over(f32x4.neg(multiplyAdd(phi1, d2, pull2)), d1);
}

function step(state: usize, action: usize): v128 {
  const torque = minus(f32x4.convert_i32x4_s(v128.load(action)), all(1));
  const angle1 = v128.load(state);
  const angle2 = v128.load(state, 16);
  const speed1 = v128.load(state, 32);
  const speed2 = v128.load(state, 48);
  let afterAngle1 = angle1;
  let afterAngle2 = angle2;
  let afterSpeed1 = speed1;
  let afterSpeed2 = speed2;
  let slope1 = all(0);
  let slope2 = all(0);
  pull1 = all(0);
  pull2 = all(0);
  // One step of Runge and Kutta's method of fourth order.
  for (let stage = 0; stage < 4; stage++) {
    const reach = all(stage == 0 ? 0 : stage == 3 ? SECONDS : 0.5 * SECONDS);
    const weight = all(stage == 0 || stage == 3 ? SECONDS / 6 : SECONDS / 3);
    const at1 = multiplyAdd(angle1, reach, slope1);
    const at2 = multiplyAdd(angle2, reach, slope2);
    slope1 = multiplyAdd(speed1, reach, pull1);
    slope2 = multiplyAdd(speed2, reach, pull2);
    findPulls(at1, at2, slope1, slope2, torque);
    afterAngle1 = multiplyAdd(afterAngle1, weight, slope1);
    afterAngle2 = multiplyAdd(afterAngle2, weight, slope2);
    afterSpeed1 = multiplyAdd(afterSpeed1, weight, pull1);
    afterSpeed2 = multiplyAdd(afterSpeed2, weight, pull2);
  }
  const wrapped1 = wrapAngle(afterAngle1);
  const wrapped2 = wrapAngle(afterAngle2);
  v128.store(state, wrapped1);
  v128.store(state, wrapped2, 16);
  v128.store(state, clamp(afterSpeed1, -MAX_SPEED_1, MAX_SPEED_1), 32);
  v128.store(state, clamp(afterSpeed2, -MAX_SPEED_2, MAX_SPEED_2), 48);
  // The tip is a link's length above the shoulder.
  const depth = plus(findCosine(wrapped1), findCosine(plus(wrapped1, wrapped2)));
  const up = f32x4.lt(depth, all(-1));
  reward = choose(all(0), all(-1), up);
  return up;
}
