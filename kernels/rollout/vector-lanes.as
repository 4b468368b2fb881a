// An environment that computes four lanes at once: it declares `resetLane`, `observe` and `step`, and numbers of its
// state stand a VECTOR apart.

/** Of the last step. */
let reward: v128 = i32x4(0, 0, 0, 0);

/** Where a word of a lane's state stands. */
// @ts-ignore: decorator
@inline
function locateWord(lane: i32, word: i32): usize {
  return states + <usize>word * VECTOR + <usize>lane * FLOAT;
}

// @ts-ignore: decorator
@inline
function putNumber(lane: i32, word: i32, value: f32): void {
  store<f32>(locateWord(lane, word), value);
}
