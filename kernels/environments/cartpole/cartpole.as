// The twin of cartpole.wgsl: x, its speed, angle, its speed.

const GRAVITY: f32 = 9.8;
const POLE_MASS: f32 = 0.1;
const TOTAL_MASS: f32 = 1.1;
const HALF_LENGTH: f32 = 0.5;
const FORCE: f32 = 10;
const SECONDS: f32 = 0.02;
const MAX_X: f32 = 2.4;
const MAX_ANGLE: f32 = 0.20943951; // 12 degrees

function resetLane(lane: i32): void {
  drawWords();
  putNumber(lane, 0, (toUniform(word0) - 0.5) * 0.1);
  putNumber(lane, 1, (toUniform(word1) - 0.5) * 0.1);
  putNumber(lane, 2, (toUniform(word2) - 0.5) * 0.1);
  putNumber(lane, 3, (toUniform(word3) - 0.5) * 0.1);
}

function observe(state: usize, observation: usize): void {
  memory.copy(observation, state, 4 * VECTOR);
}

function step(state: usize, action: usize): v128 {
  const speed = v128.load(state, 16);
  const angle = v128.load(state, 32);
  const angleSpeed = v128.load(state, 48);
  const right = i32x4.eq(v128.load(action), i32x4.splat(1));
  const force = choose(f32x4.splat(FORCE), f32x4.splat(-FORCE), right);
  findSineCosine(angle);
  const swing = f32x4.mul(f32x4.mul(f32x4.splat(POLE_MASS * HALF_LENGTH), angleSpeed), angleSpeed);
  const push = f32x4.div(multiplyAdd(force, swing, sine), f32x4.splat(TOTAL_MASS));
  const pull = f32x4.sub(f32x4.mul(f32x4.splat(GRAVITY), sine), f32x4.mul(cosine, push));
  const share = f32x4.div(f32x4.mul(f32x4.splat(POLE_MASS), f32x4.mul(cosine, cosine)), f32x4.splat(TOTAL_MASS));
  const anglePull = f32x4.div(
    pull,
    f32x4.mul(f32x4.splat(HALF_LENGTH), f32x4.sub(f32x4.splat(<f32>4 / <f32>3), share)),
  );
  const back = f32x4.mul(f32x4.splat(POLE_MASS * HALF_LENGTH), f32x4.mul(anglePull, cosine));
  const speedPull = f32x4.sub(push, f32x4.div(back, f32x4.splat(TOTAL_MASS)));
  // Explicit Euler: positions move by the speeds before the step.
  const seconds = f32x4.splat(SECONDS);
  const x = multiplyAdd(v128.load(state), seconds, speed);
  const turned = multiplyAdd(angle, seconds, angleSpeed);
  v128.store(state, x);
  v128.store(state, multiplyAdd(speed, seconds, speedPull), 16);
  v128.store(state, turned, 32);
  v128.store(state, multiplyAdd(angleSpeed, seconds, anglePull), 48);
  reward = f32x4.splat(1);
  const away = f32x4.gt(f32x4.abs(x), f32x4.splat(MAX_X));
  return v128.or(away, f32x4.gt(f32x4.abs(turned), f32x4.splat(MAX_ANGLE)));
}
