// The twin of valley.wgsl: position, speed.

const GRAVITY: f32 = 0.0025;
const MAX_SPEED: f32 = 0.07;
const WALL: f32 = -1.2;
const END: f32 = 0.6;

function resetLane(lane: i32): void {
  drawWords();
  putNumber(lane, 0, 0.2 * toUniform(word0) - 0.6);
  putNumber(lane, 1, 0);
}

function observe(state: usize, observation: usize): void {
  memory.copy(observation, state, 2 * VECTOR);
}

/** Moves the car one step under a push; the wall stops it. */
// @ts-ignore: decorator
@inline
function drive(state: usize, push: v128): void {
  const before = v128.load(state);
  const pull = minus(push, times(all(GRAVITY), findCosine(times(all(3), before))));
  const speed = clamp(plus(v128.load(state, 16), pull), -MAX_SPEED, MAX_SPEED);
  const position = clamp(plus(before, speed), WALL, END);
  const stops = v128.and(f32x4.eq(position, all(WALL)), f32x4.lt(speed, all(0)));
  v128.store(state, position);
  v128.store(state, v128.andnot(speed, stops), 16);
}
