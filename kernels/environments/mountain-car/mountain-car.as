// The twin of mountain-car.wgsl.

const PUSH: f32 = 0.001;
const GOAL: f32 = 0.5;

function step(state: usize, action: usize): v128 {
  drive(state, times(all(PUSH), minus(f32x4.convert_i32x4_s(v128.load(action)), all(1))));
  reward = all(-1);
  return v128.and(f32x4.ge(v128.load(state), all(GOAL)), f32x4.ge(v128.load(state, 16), all(0)));
}
