// The twin of cartpole-swing-up.wgsl: x, its speed, angle, its speed.

const PI_32: f32 = 3.14159265;
const GRAVITY: f32 = 9.82;
const POLE_MASS: f32 = 0.5;
const TOTAL_MASS: f32 = 1;
const LENGTH_OF_POLE: f32 = 0.6;
const FRICTION: f32 = 0.1;
const MAX_FORCE: f32 = 10;
const SECONDS: f32 = 0.01;
const MAX_X: f32 = 2.4;

function resetLane(lane: i32): void {
  drawWords();
  if (HARD) {
    putNumber(lane, 0, (2 * toUniform(word0) - 1) * MAX_X);
    putNumber(lane, 1, (2 * toUniform(word1) - 1) * 10);
    putNumber(lane, 2, PI_32 + (2 * toUniform(word2) - 1) * (PI_32 / 2));
    putNumber(lane, 3, (2 * toUniform(word3) - 1) * 10);
  } else {
    toNormals();
    putNumber(lane, 0, 0.2 * f32x4.extract_lane(noise0, 0));
    putNumber(lane, 1, 0.2 * f32x4.extract_lane(noise1, 0));
    putNumber(lane, 2, PI_32 + 0.2 * f32x4.extract_lane(noise2, 0));
    putNumber(lane, 3, 0.2 * f32x4.extract_lane(noise3, 0));
  }
}

function observe(state: usize, observation: usize): void {
  v128.store(observation, v128.load(state));
  v128.store(observation, v128.load(state, 16), 16);
  findSineCosine(v128.load(state, 32));
  v128.store(observation, cosine, 32);
  v128.store(observation, sine, 48);
  v128.store(observation, v128.load(state, 48), 64);
}

function step(state: usize, action: usize): v128 {
  const before = v128.load(state);
  const speed = v128.load(state, 16);
  const angle = v128.load(state, 32);
  const angleSpeed = v128.load(state, 48);
  findSineCosine(angle);
  const force = times(all(MAX_FORCE), clamp(v128.load(action), -1, 1));
  const pull = minus(force, times(all(FRICTION), speed));
  const swing = times(times(all(POLE_MASS * LENGTH_OF_POLE), times(angleSpeed, angleSpeed)), sine);
  const inertia = minus(all(4 * TOTAL_MASS), times(all(3 * POLE_MASS), times(cosine, cosine)));
  let push = minus(times(all(4), pull), times(all(2), swing));
  push = multiplyAdd(push, all(3 * POLE_MASS * GRAVITY), times(sine, cosine));
  let turn = minus(times(times(all(6), pull), cosine), times(times(all(3), swing), cosine));
  turn = multiplyAdd(turn, all(6 * TOTAL_MASS * GRAVITY), sine);
  // Explicit Euler: positions move by the speeds before the step.
  const seconds = all(SECONDS);
  const x = multiplyAdd(before, seconds, speed);
  const turned = multiplyAdd(angle, seconds, angleSpeed);
  v128.store(state, x);
  v128.store(state, multiplyAdd(speed, seconds, over(push, inertia)), 16);
  v128.store(state, turned, 32);
  v128.store(state, multiplyAdd(angleSpeed, seconds, over(turn, times(all(LENGTH_OF_POLE), inertia))), 48);
  const middle = findCosine(times(x, all(PI_32 / (2 * MAX_X))));
  reward = times(times(all(0.5), plus(all(1), findCosine(turned))), middle);
  return f32x4.gt(f32x4.abs(x), all(MAX_X));
}
