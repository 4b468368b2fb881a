// The twin of xor.wgsl: the number of the case.

function resetLane(lane: i32): void {
  store<u32>(locateWord(lane, 0), 0);
}

function observe(state: usize, observation: usize): void {
  const index = v128.load(state);
  v128.store(observation, f32x4.convert_i32x4_u(i32x4.shr_u(index, 1)));
  v128.store(observation, f32x4.convert_i32x4_u(v128.and(index, i32x4.splat(1))), 16);
}

function step(state: usize, action: usize): v128 {
  const index = v128.load(state);
  const either = v128.and(v128.xor(i32x4.shr_u(index, 1), index), i32x4.splat(1));
  const error = minus(f32x4.convert_i32x4_u(either), clamp(v128.load(action), 0, 1));
  // The last case wraps round, so that inputs are bits whatever comes after the end.
  const after = v128.and(i32x4.add(index, i32x4.splat(1)), i32x4.splat(3));
  v128.store(state, after);
  reward = minus(all(1), times(error, error));
  return i32x4.eq(after, i32x4.splat(0));
}
