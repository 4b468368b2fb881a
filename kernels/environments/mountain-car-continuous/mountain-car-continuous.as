// The twin of mountain-car-continuous.wgsl.

const PUSH: f32 = 0.0015;
const GOAL: f32 = 0.45;

function step(state: usize, action: usize): v128 {
  const asked = v128.load(action);
  drive(state, times(all(PUSH), clamp(asked, -1, 1)));
  const up = v128.and(f32x4.ge(v128.load(state), all(GOAL)), f32x4.ge(v128.load(state, 16), all(0)));
  // What is asked for costs, even where it is more than the engine gives.
  reward = minus(v128.and(all(100), up), times(all(0.1), times(asked, asked)));
  return up;
}
