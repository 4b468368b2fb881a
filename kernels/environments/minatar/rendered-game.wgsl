// A game of MinAtar by its last four frames; see frames.wgsl. The game is that of sticky-game.wgsl.

struct State {
  game: Game,
  last_action: u32,
  frames: Observation,
}

/// Of what is in one cell the highest channel is seen, as where MinAtar draws itself.
fn show_cell(observation: ptr<function, Observation>, row: i32, column: i32, channel: u32) {
  // Columns may go on in the next row.
  let cell = u32(10 * row + column);
  let at = NEWEST_FRAME + cell / 10u;
  let shift = 3u * (cell % 10u);
  let seen = max(((*observation)[at] >> shift) & 7u, channel + 1u);
  (*observation)[at] = ((*observation)[at] & ~(7u << shift)) | (seen << shift);
}

/// The first frame stands for those before it.
fn reset(random: ptr<function, Random>) -> State {
  let game = start_game(random);
  var frames = show_game(game);
  for (var row = 0u; row < NEWEST_FRAME; row++) {
    frames[row] = frames[NEWEST_FRAME + row % 10u];
  }
  return State(game, 0u, frames);
}

fn observe(state: State) -> Observation {
  return state.frames;
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  var game = (*state).game;
  let taken = stick(action, (*state).last_action, random);
  let transition = play_game(&game, taken, random);
  var frames = show_game(game);
  for (var row = 0u; row < NEWEST_FRAME; row++) {
    frames[row] = (*state).frames[row + 10u];
  }
  *state = State(game, taken, frames);
  return transition;
}
