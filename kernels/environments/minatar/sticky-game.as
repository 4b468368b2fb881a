// The twin of sticky-game.wgsl and game.wgsl. The game declares `startGame`, `showGame` and `playGame`; the last word
// of a state is the last action.

const LEFT: u32 = 1;
const UP: u32 = 2;
const RIGHT: u32 = 3;
const DOWN: u32 = 4;
const FIRE: u32 = 5;
const LAST_ACTION: usize = <usize>(STATE_WORDS - 1) * FLOAT;

/** What left the board after the end, in a replay that goes on, is not shown. */
// @ts-ignore: decorator
@inline
function showCell(observation: usize, row: i32, column: i32, channel: i32): void {
  const index = (row * 10 + column) * CHANNELS + channel;
  if (<u32>index < <u32>OBSERVATION_SIZE) store<f32>(observation + <usize>index * VECTOR, 1);
}

/** A place after a step of −1, 0 or 1 that ends at the bounds. */
// @ts-ignore: decorator
@inline
function moveWithin(place: i32, back: bool, forth: bool, low: i32, high: i32): i32 {
  return min(max(place + <i32>forth - <i32>back, low), high);
}

function resetOne(state: usize): void {
  startGame(state);
  store<u32>(state + LAST_ACTION, 0);
}

// @ts-ignore: decorator
@inline
function observeOne(state: usize, observation: usize): void {
  showGame(state, observation);
}

function stepOne(state: usize, action: usize): bool {
  let taken = load<u32>(action);
  if (STICKY > 0) {
    drawWords();
    if (toUniform(word0) < <f32>STICKY) taken = load<u32>(state + LAST_ACTION);
  }
  store<u32>(state + LAST_ACTION, taken);
  return playGame(state, taken);
}
