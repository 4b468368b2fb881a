// An environment by itself, four episodes at a time: the twin of replay.wgsl.

/**
 * Takes `count` episodes through their actions, the first `given` of them from their states, the others as they begin.
 * `actionsAt`: episodes × steps × numbers; `tracesAt`: episodes × (steps + 1) × words of a state; `movesAt`: episodes ×
 * steps of reward and 1 where it ended; `seenAt`: episodes × (steps + 1) × numbers of an observation. Draws are those at
 * `tapeAt`, so many blocks a step, unless it is 0.
 */
export function replay(count: u32, given: u32, steps: u32, seed: u32, actionsAt: usize, tracesAt: usize, movesAt: usize, seenAt: usize, tapeAt: usize, blocks: u32): void {
  // All of one member, whose number is 0.
  episodes = 0xffffffff;
  firstEpisode = 0;
  commonRandom = false;
  drawSeed = seed;
  drawStream = ENVIRONMENT_STREAM;
  tape = tapeAt;
  tapeSteps = steps;
  tapeBlocks = blocks;
  for (let first: u32 = 0; first < count; first += LANES) {
    const lanes = min<i32>(LANES, count - first);
    liveLanes = (1 << lanes) - 1;
    live = i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(lanes));
    for (let lane = 0; lane < lanes; lane++) {
      store<u32>(lanesAt + <usize>lane * FLOAT, first + lane, SLOT);
      const start = tracesAt + <usize>(first + lane) * (steps + 1) * STATE_WORDS * FLOAT;
      if (first + lane < given) {
        copyState(lane, start, true);
      } else {
        keyDraws(first + lane, 0);
        resetLane(lane);
        copyState(lane, start, false);
      }
    }
    keepObservations(first, lanes, steps, 0, seenAt);
    for (let done: u32 = 0; done < steps; done++) {
      for (let lane = 0; lane < lanes; lane++) {
        const numbers = actionsAt + <usize>((first + lane) * steps + done) * ACTION_NUMBERS * FLOAT;
        for (let part = 0; part < ACTION_NUMBERS; part++) {
          const number = load<f32>(numbers + <usize>part * FLOAT);
          store<u32>(action + <usize>part * VECTOR + <usize>lane * FLOAT, readAction(number));
        }
      }
      v128.store(lanesAt, i32x4.splat(done + 1), LENGTH);
      v128.store(lanesAt, step(states, action), FLAGS);
      v128.store(lanesAt, reward, REWARD);
      for (let lane = 0; lane < lanes; lane++) {
        const own = lanesAt + <usize>lane * FLOAT;
        copyState(lane, tracesAt + <usize>((first + lane) * (steps + 1) + done + 1) * STATE_WORDS * FLOAT, false);
        const move = movesAt + 8 * <usize>((first + lane) * steps + done);
        store<f32>(move, load<f32>(own, REWARD));
        store<f32>(move, load<i32>(own, FLAGS) != 0 ? 1 : 0, 4);
      }
      keepObservations(first, lanes, steps, done + 1, seenAt);
    }
  }
}

function keepObservations(first: u32, lanes: i32, steps: u32, done: u32, seenAt: usize): void {
  observe(states, observation);
  for (let lane = 0; lane < lanes; lane++) {
    const row = seenAt + <usize>((first + lane) * (steps + 1) + done) * OBSERVATION_SIZE * FLOAT;
    for (let index: usize = 0; index < <usize>OBSERVATION_SIZE; index++) {
      store<f32>(row + index * FLOAT, load<f32>(observation + index * VECTOR + <usize>lane * FLOAT));
    }
  }
}

function copyState(lane: i32, words: usize, isIn: bool): void {
  for (let word = 0; word < STATE_WORDS; word++) {
    const at = words + <usize>word * FLOAT;
    if (isIn) store<u32>(locateWord(lane, word), load<u32>(at));
    else store<u32>(at, load<u32>(locateWord(lane, word)));
  }
}
