// MinAtar's Freeway (Young and Tian 2019): a chicken crosses eight lanes of cars, one in each of rows 1 to 8, which go
// round at speeds of their own. Speeds are drawn anew when it has arrived.

const LANES_OF_CARS = 8u;
const COLUMN = 4; // of the chicken
const START = 9;
const PAUSE = 3;
const FRAMES = 2500;

struct Game {
  chicken: i32, // row
  move_timer: i32,
  frames_left: i32,
  columns: u32, // four bits for each car, as the next two
  timers: u32,
  intervals: u32, // steps between moves, less one: 1 to 5
  rightward: u32, // a bit for each car
}

fn four_bits(words: u32, car: u32) -> u32 {
  return (words >> (4u * car)) & 15u;
}

/// Draws interval and direction of every car: one of ten each.
fn draw_cars(game: ptr<function, Game>, random: ptr<function, Random>) {
  var intervals = 0u;
  var rightward = 0u;
  for (var car = 0u; car < LANES_OF_CARS; car += 4u) {
    let words = draw_words(random);
    for (var part = 0u; part < 4u; part++) {
      let chosen = to_choice(words[part], 10u);
      intervals |= (chosen % 5u + 1u) << (4u * (car + part));
      rightward |= (chosen / 5u) << (car + part);
    }
  }
  (*game).intervals = intervals;
  (*game).timers = intervals;
  (*game).rightward = rightward;
}

fn start_game(random: ptr<function, Random>) -> Game {
  var game = Game(START, PAUSE, FRAMES, 0u, 0u, 0u, 0u);
  draw_cars(&game, random);
  return game;
}

/// The column that a car goes to, or comes from where it goes back; the board is round.
fn next_column(column: u32, rightward: bool) -> u32 {
  return (column + select(9u, 1u, rightward)) % 10u;
}

fn show_game(game: Game) -> Observation {
  var observation: Observation;
  show_cell(&observation, game.chicken, COLUMN, 0u);
  for (var car = 0u; car < LANES_OF_CARS; car++) {
    let column = four_bits(game.columns, car);
    let rightward = ((game.rightward >> car) & 1u) == 1u;
    show_cell(&observation, i32(car) + 1, i32(column), 1u);
    show_cell(&observation, i32(car) + 1, i32(next_column(column, !rightward)), 1u + four_bits(game.intervals, car));
  }
  return observation;
}

fn is_run_over(game: Game) -> bool {
  return game.chicken >= 1 && game.chicken <= 8 && four_bits(game.columns, u32(game.chicken - 1)) == u32(COLUMN);
}

fn drive(game: ptr<function, Game>) {
  for (var car = 0u; car < LANES_OF_CARS; car++) {
    let at = 4u * car;
    let timer = four_bits((*game).timers, car);
    if (timer > 0u) {
      (*game).timers -= 1u << at;
      continue;
    }
    let rightward = (((*game).rightward >> car) & 1u) == 1u;
    let column = next_column(four_bits((*game).columns, car), rightward);
    (*game).timers |= four_bits((*game).intervals, car) << at;
    (*game).columns = ((*game).columns & ~(15u << at)) | (column << at);
  }
}

fn play_game(game: ptr<function, Game>, action: Action, random: ptr<function, Random>) -> Transition {
  if ((action == UP || action == DOWN) && (*game).move_timer == 0) {
    (*game).move_timer = PAUSE;
    (*game).chicken = move_within((*game).chicken, action == UP, action == DOWN, 0, 9);
  }
  let arrived = (*game).chicken == 0;
  if (arrived) {
    draw_cars(game, random);
    (*game).chicken = START;
  }
  // A car runs the chicken over where it stands and where it comes to.
  let before = is_run_over(*game);
  drive(game);
  if (before || is_run_over(*game)) {
    (*game).chicken = START;
  }
  (*game).move_timer = max((*game).move_timer - 1, 0);
  (*game).frames_left -= 1;
  return Transition(select(0f, 1f, arrived), (*game).frames_left < 0);
}
