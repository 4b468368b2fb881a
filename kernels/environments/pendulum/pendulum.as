// The twin of pendulum.wgsl: angle, speed.

const PI_32: f32 = 3.14159265;
const GRAVITY: f32 = 10;
const MAX_TORQUE: f32 = 2;
const MAX_SPEED: f32 = 8;
const SECONDS: f32 = 0.05;

function resetLane(lane: i32): void {
  drawWords();
  putNumber(lane, 0, PI_32 * (2 * toUniform(word0) - 1));
  putNumber(lane, 1, 2 * toUniform(word1) - 1);
}

function observe(state: usize, observation: usize): void {
  findSineCosine(v128.load(state));
  v128.store(observation, cosine);
  v128.store(observation, sine, 16);
  v128.store(observation, v128.load(state, 16), 32);
}

function step(state: usize, action: usize): v128 {
  const angle = v128.load(state);
  const before = v128.load(state, 16);
  const torque = clamp(v128.load(action), -MAX_TORQUE, MAX_TORQUE);
  const away = wrapAngle(angle);
  let cost = multiplyAdd(times(away, away), times(all(0.1), before), before);
  cost = multiplyAdd(cost, times(all(0.001), torque), torque);
  const pull = multiplyAdd(times(all(1.5 * GRAVITY), findSine(angle)), all(3), torque);
  const speed = clamp(multiplyAdd(before, all(SECONDS), pull), -MAX_SPEED, MAX_SPEED);
  v128.store(state, multiplyAdd(angle, all(SECONDS), speed));
  v128.store(state, speed, 16);
  reward = f32x4.neg(cost);
  return i32x4.splat(0);
}
