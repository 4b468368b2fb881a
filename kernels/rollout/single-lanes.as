// An environment that computes one lane at a time: it declares `resetOne`, `observeOne` and `stepOne`, and each lane's
// state stands by itself, its words in the order of the WGSL struct.

/** Of the last step. */
let reward: v128 = i32x4(0, 0, 0, 0);
let rewardOfOne: f32 = 0;

// @ts-ignore: decorator
@inline
function locateWord(lane: i32, word: i32): usize {
  return states + <usize>(lane * STATE_WORDS + word) * FLOAT;
}

function resetLane(lane: i32): void {
  resetOne(locateWord(lane, 0));
}

function observe(state: usize, observation: usize): void {
  memory.fill(observation, 0, <usize>OBSERVATION_SIZE * VECTOR);
  for (let lane = 0; lane < LANES; lane++) observeOne(locateWord(lane, 0), observation + <usize>lane * FLOAT);
}

/** Moves the lanes that are live. */
function step(state: usize, action: usize): v128 {
  let ended: i32 = 0;
  for (let lane = 0; lane < LANES; lane++) {
    if ((liveLanes & (1 << lane)) == 0) continue;
    const own = lanesAt + <usize>lane * FLOAT;
    keyDraws(load<u32>(own, SLOT), load<u32>(own, LENGTH));
    if (stepOne(locateWord(lane, 0), action + <usize>lane * FLOAT)) ended |= 1 << lane;
    store<f32>(own, rewardOfOne, REWARD);
  }
  reward = v128.load(lanesAt, REWARD);
  const bits = i32x4(1, 2, 4, 8);
  return i32x4.eq(v128.and(i32x4.splat(ended), bits), bits);
}
