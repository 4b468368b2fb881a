// A game of MinAtar by its bits. The game declares `Game`, `start_game`, `show_game` and `play_game`.

struct State {
  game: Game,
  last_action: u32,
}

fn show_cell(observation: ptr<function, Observation>, row: i32, column: i32, channel: u32) {
  set_bit(observation, u32(row * 10 + column) * CHANNELS + channel);
}

fn reset(random: ptr<function, Random>) -> State {
  return State(start_game(random), 0u);
}

fn observe(state: State) -> Observation {
  return show_game(state.game);
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  var game = (*state).game;
  let taken = stick(action, (*state).last_action, random);
  let transition = play_game(&game, taken, random);
  *state = State(game, taken);
  return transition;
}
