// MinAtar's Asterix (Young and Tian 2019): enemies and gold cross the board in rows 1 to 8, one at most in each, and
// come faster as time goes on.

const ROWS = 8u;
const SPAWN_START = 10;
const MOVE_START = 5;
const RAMP_INTERVAL = 100;
const GOLD_SHARE = 0.333333333f;

struct Game {
  player_x: i32,
  player_y: i32,
  present: u32, // a bit for each row, row 1 the first
  gold: u32,
  rightward: u32,
  columns: u32, // four bits for each row
  spawn_interval: i32,
  spawn_timer: i32,
  move_interval: i32,
  move_timer: i32,
  ramp_timer: i32,
  ramps: u32,
}

fn start_game(random: ptr<function, Random>) -> Game {
  return Game(5, 5, 0u, 0u, 0u, 0u, SPAWN_START, SPAWN_START, MOVE_START, MOVE_START, RAMP_INTERVAL, 0u);
}

fn column_of(game: Game, row: u32) -> i32 {
  return i32((game.columns >> (4u * row)) & 15u);
}

fn show_game(game: Game) -> Observation {
  var observation: Observation;
  show_cell(&observation, game.player_y, game.player_x, 0u);
  for (var present = game.present; present != 0u; present &= present - 1u) {
    let row = firstTrailingBit(present);
    let column = column_of(game, row);
    let behind = column + select(1, -1, ((game.rightward >> row) & 1u) == 1u);
    show_cell(&observation, i32(row) + 1, column, select(1u, 3u, ((game.gold >> row) & 1u) == 1u));
    if (behind >= 0 && behind <= 9) {
      show_cell(&observation, i32(row) + 1, behind, 2u);
    }
  }
  return observation;
}

/// Something enters in a free row: from the left or the right, gold or an enemy.
fn spawn(game: ptr<function, Game>, random: ptr<function, Random>) {
  let words = draw_words(random);
  let free = ~(*game).present & 0xffu;
  if (free == 0u) {
    return;
  }
  let uniform = to_uniform(words);
  var chosen = free;
  for (var skipped = to_choice(words.z, countOneBits(free)); skipped > 0u; skipped--) {
    chosen &= chosen - 1u;
  }
  let row = firstTrailingBit(chosen);
  let bit = 1u << row;
  let rightward = uniform.x < 0.5f;
  (*game).present |= bit;
  (*game).rightward = select((*game).rightward & ~bit, (*game).rightward | bit, rightward);
  (*game).gold = select((*game).gold & ~bit, (*game).gold | bit, uniform.y < GOLD_SHARE);
  (*game).columns = ((*game).columns & ~(15u << (4u * row))) | (select(9u, 0u, rightward) << (4u * row));
}

/// What the player meets: only what is in its row can be. Gold is taken.
fn meet(game: ptr<function, Game>) -> Transition {
  let row = u32((*game).player_y - 1);
  let bit = 1u << row;
  if (((*game).present & bit) == 0u || column_of(*game, row) != (*game).player_x) {
    return Transition(0f, false);
  }
  let is_gold = ((*game).gold & bit) != 0u;
  (*game).present &= ~select(0u, bit, is_gold);
  return Transition(select(0f, 1f, is_gold), !is_gold);
}

fn move_all(game: ptr<function, Game>) {
  for (var present = (*game).present; present != 0u; present &= present - 1u) {
    let row = firstTrailingBit(present);
    let column = column_of(*game, row) + select(-1, 1, (((*game).rightward >> row) & 1u) == 1u);
    if (column < 0 || column > 9) {
      (*game).present &= ~(1u << row);
    } else {
      (*game).columns = ((*game).columns & ~(15u << (4u * row))) | (u32(column) << (4u * row));
    }
  }
}

fn ramp_up(game: ptr<function, Game>) {
  if ((*game).spawn_interval <= 1 && (*game).move_interval <= 1) {
    return;
  }
  if ((*game).ramp_timer >= 0) {
    (*game).ramp_timer -= 1;
    return;
  }
  let odd = ((*game).ramps & 1u) == 1u;
  (*game).move_interval -= select(0, 1, odd && (*game).move_interval > 1);
  (*game).spawn_interval -= select(0, 1, (*game).spawn_interval > 1);
  (*game).ramps += 1u;
  (*game).ramp_timer = RAMP_INTERVAL;
}

fn play_game(game: ptr<function, Game>, action: Action, random: ptr<function, Random>) -> Transition {
  if ((*game).spawn_timer == 0) {
    spawn(game, random);
    (*game).spawn_timer = (*game).spawn_interval;
  }
  (*game).player_x = move_within((*game).player_x, action == LEFT, action == RIGHT, 0, 9);
  (*game).player_y = move_within((*game).player_y, action == UP, action == DOWN, 1, 8);
  var met = meet(game);
  if ((*game).move_timer == 0) {
    (*game).move_timer = (*game).move_interval;
    move_all(game);
    let then = meet(game);
    met = Transition(met.reward + then.reward, met.terminated || then.terminated);
  }
  (*game).spawn_timer -= 1;
  (*game).move_timer -= 1;
  ramp_up(game);
  return met;
}
