// Episodes of members, four at a time: the twin of rollout.wgsl. A lane whose episode has ended takes the next one of
// the share, whosever it is, so that no lane waits for the longest of four. Every thread has an instance of its own on
// the memory that all share.

const TERMINATED: i32 = 1;
const TRUNCATED: i32 = 2;
const FAILED: i32 = 4;
const BAD_REWARD: i32 = 8;
/** Draws of environments. */
const ENVIRONMENT_STREAM: u32 = 1;

let rows: usize = 0; // members × parameters
let rowBytes: usize = 0;
let returns: usize = 0; // a float, a word and a byte of each episode: members × episodes
let lengths: usize = 0;
let causes: usize = 0;
let measured: usize = 0;
let unsound: usize = 0; // a byte for each member
let taken: usize = 0; // how many episodes lanes of all threads have taken so far

let episodes: u32 = 0;
let firstEpisode: u32 = 0;
let commonRandom: bool = false;
let total: u32 = 0; // episodes of all members
let atOnce: u32 = 0; // episodes that a lane takes at once

// Of this thread:
let states: usize = 0;
let observation: usize = 0;
let action: usize = 0;
let spare: usize = 0; // two groups
let lanesAt: usize = 0; // a vector each of the following
let lengthNow: v128 = i32x4(0, 0, 0, 0);
let totalNow: v128 = i32x4(0, 0, 0, 0);
let live: v128 = i32x4(0, 0, 0, 0);
let liveLanes: i32 = 0; // the same as bits

const SLOT: usize = 0; // which episode is in a lane, and before which one it takes others
const SLOT_END: usize = 16;
const MEMBER: usize = 32; // whose weights a lane has
const LENGTH: usize = 48;
const TOTAL: usize = 64;
const FLAGS: usize = 80;
const REWARD: usize = 96;
const SOUND: usize = 112; // 1: all weights of the lane's member are finite

/** Says where everything stands that all threads share, in bytes; addresses of vectors are multiples of 16. */
export function placeShared(
  rowsAt: usize,
  parameters: u32,
  layerCount: u32,
  widthsAt: usize,
  activationsAt: usize,
  takenAt: usize,
): void {
  rows = rowsAt;
  rowBytes = <usize>parameters * FLOAT;
  layers = layerCount;
  widths = widthsAt;
  activations = activationsAt;
  taken = takenAt;
}

/** Says where this thread's own numbers stand, and how many bytes a row of neurons has. */
export function placeOwn(
  stateAt: usize,
  observationAt: usize,
  actionAt: usize,
  presentAt: usize,
  neuronsAt: usize,
  bytesOfNeurons: usize,
  laneWeightsAt: usize,
  bookkeepingAt: usize,
  spareAt: usize,
): void {
  states = stateAt;
  observation = observationAt;
  action = actionAt;
  present = presentAt;
  neurons = neuronsAt;
  neuronsBytes = bytesOfNeurons;
  laneWeights = laneWeightsAt;
  lanesAt = bookkeepingAt;
  spare = spareAt;
}

/**
 * Takes part in rolling `count` episodes of each member out until none is left to take. Where the results go: floats,
 * words, bytes, measures, and a byte for each member; what is 0 already may stay so. Shares are found as they are taken.
 */
export function rollOut(
  share: u32,
  shares: u32,
  members: u32,
  count: u32,
  first: u32,
  seed: u32,
  limit: u32,
  common: bool,
  run: u32,
  returnsAt: usize,
  lengthsAt: usize,
  causesAt: usize,
  measuresAt: usize,
  unsoundAt: usize,
): void {
  drawSeed = seed;
  drawStream = ENVIRONMENT_STREAM;
  firstEpisode = first;
  episodes = count;
  total = members * count;
  atOnce = run;
  commonRandom = common;
  returns = returnsAt;
  lengths = lengthsAt;
  causes = causesAt;
  measured = measuresAt;
  unsound = unsoundAt;
  const limits = i32x4.splat(limit);
  live = i32x4.splat(-1);
  liveLanes = 15;
  v128.store(lanesAt, i32x4.splat(0), SLOT);
  v128.store(lanesAt, i32x4.splat(0), SLOT_END);
  // No member has this number.
  v128.store(lanesAt, i32x4.splat(-1), MEMBER);
  begin(15);
  while (liveLanes != 0) {
    observe(states, observation);
    const outputs = applyPolicy(observation);
    const sound = areAllFinite(outputs);
    chooseAction(outputs, action);
    lengthNow = i32x4.sub(lengthNow, sound);
    v128.store(lanesAt, lengthNow, LENGTH);
    const ended = step(states, action);
    const sum = f32x4.add(totalNow, reward);
    const right = v128.and(sound, areFinite(sum));
    totalNow = choose(sum, totalNow, right);
    const late = i32x4.ge_u(lengthNow, limits);
    const finished = v128.and(live, v128.or(v128.or(ended, late), v128.not(right)));
    if (v128.any_true(finished)) {
      const cause = v128.or(v128.and(ended, i32x4.splat(TERMINATED)), v128.and(late, i32x4.splat(TRUNCATED)));
      const lanes = i32x4.bitmask(finished);
      v128.store(lanesAt, totalNow, TOTAL);
      const failure = choose(i32x4.splat(FAILED | BAD_REWARD), i32x4.splat(FAILED), sound);
      v128.store(lanesAt, choose(cause, failure, right), FLAGS);
      finish(lanes);
      begin(lanes);
    }
  }
}

function areAllFinite(outputs: usize): v128 {
  let sound = i32x4.splat(-1);
  for (let at: usize = 0; at < <usize>OUTPUTS * VECTOR; at += VECTOR) {
    sound = v128.and(sound, areFinite(v128.load(outputs + at)));
  }
  return sound;
}

/** Keeps what became of the episodes in these lanes, whose causes are the flags. */
function finish(lanes: i32): void {
  for (let lane = 0; lane < LANES; lane++) {
    if ((lanes & (1 << lane)) == 0) continue;
    const own = lanesAt + <usize>lane * FLOAT;
    const slot = <usize>load<u32>(own, SLOT);
    store<u32>(lengths + slot * FLOAT, load<u32>(own, LENGTH));
    store<f32>(returns + slot * FLOAT, load<f32>(own, TOTAL));
    const cause = load<i32>(own, FLAGS);
    store<u8>(causes + slot, <u8>cause);
    if (cause < FAILED) measureLane(lane, measured + slot * MEASURES * FLOAT);
    store<u32>(own, <u32>slot + 1, SLOT);
  }
}

/** Gives each of these lanes the next episode that has a first step, or ends it where there is none. */
function begin(lanes: i32): void {
  v128.store(lanesAt, lengthNow, LENGTH);
  v128.store(lanesAt, totalNow, TOTAL);
  v128.store(lanesAt, live, FLAGS);
  for (let lane = 0; lane < LANES; lane++) {
    if ((lanes & (1 << lane)) == 0) continue;
    const own = lanesAt + <usize>lane * FLOAT;
    if (!findNext(own, lane)) {
      store<i32>(own, 0, FLAGS);
      liveLanes &= ~(1 << lane);
      continue;
    }
    store<u32>(own, 0, LENGTH);
    store<f32>(own, 0, TOTAL);
    // Step 0 is the reset; the first step has number 1.
    keyDraws(load<u32>(own, SLOT), 0);
    resetLane(lane);
  }
  lengthNow = v128.load(lanesAt, LENGTH);
  totalNow = v128.load(lanesAt, TOTAL);
  live = v128.load(lanesAt, FLAGS);
}

/** Puts a lane at its next episode, with the weights of its member. All episodes of an unsound member have failed. */
function findNext(own: usize, lane: i32): bool {
  while (load<u32>(own, SLOT) != load<u32>(own, SLOT_END) || takeMore(own)) {
    const slot = load<u32>(own, SLOT);
    const member = slot / episodes;
    if (load<u32>(own, MEMBER) != member) {
      store<u32>(own, member, MEMBER);
      store<u32>(own, loadMember(rows + <usize>member * rowBytes, lane) ? 1 : 0, SOUND);
    }
    if (load<u32>(own, SOUND) == 1) return true;
    store<u8>(unsound + member, 1);
    store<u32>(lengths + <usize>slot * FLOAT, 0);
    store<f32>(returns + <usize>slot * FLOAT, 0);
    store<u8>(causes + slot, <u8>FAILED);
    store<u32>(own, slot + 1, SLOT);
  }
  return false;
}

/** The next episodes that no lane of any thread has taken; false where there are none. */
function takeMore(own: usize): bool {
  const first = atomic.add<u32>(taken, atOnce);
  if (first >= total) return false;
  store<u32>(own, first, SLOT);
  store<u32>(own, min(total, first + atOnce), SLOT_END);
  return true;
}

/** The next draws are those of this step of an episode. */
// @ts-ignore: decorator
@inline
function keyDraws(slot: u32, step: u32): void {
  drawMember = commonRandom ? 0 : slot / episodes;
  drawEpisode = firstEpisode + (slot % episodes);
  drawStep = step;
  drawNumber = 0;
}
