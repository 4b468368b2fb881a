// MinAtar's Breakout (Young and Tian 2019): a ball that flies along diagonals, a paddle of one cell in the bottom row,
// three rows of bricks below the top one.

struct Game {
  bricks: u32, // bit 10 · (row - 1) + column of rows 1 to 3
  paddle: i32,
  x: i32,
  y: i32,
  last_x: i32,
  last_y: i32,
  step_x: i32, // 1 or -1
  step_y: i32,
  in_bricks: u32, // 1: the ball broke a brick and has not been in the open since
}

const WALL = 0x3fffffffu;

fn start_game(random: ptr<function, Random>) -> Game {
  let at_right = to_choice(draw_words(random).x, 2u) == 1u;
  let x = select(0, 9, at_right);
  return Game(WALL, 4, x, 3, x, 3, select(1, -1, at_right), 1, 0u);
}

fn show_game(game: Game) -> Observation {
  var observation: Observation;
  show_cell(&observation, 9, game.paddle, 0u);
  show_cell(&observation, game.y, game.x, 1u);
  show_cell(&observation, game.last_y, game.last_x, 2u);
  for (var bricks = game.bricks; bricks != 0u; bricks &= bricks - 1u) {
    show_cell(&observation, 1, i32(firstTrailingBit(bricks)), 3u);
  }
  return observation;
}

fn play_game(game: ptr<function, Game>, action: Action, random: ptr<function, Random>) -> Transition {
  var now = *game;
  now.paddle = move_within(now.paddle, action == LEFT, action == RIGHT, 0, 9);
  now.last_x = now.x;
  now.last_y = now.y;
  let x = now.x + now.step_x;
  now.y += now.step_y;
  now.x = clamp(x, 0, 9);
  now.step_x = select(-now.step_x, now.step_x, now.x == x);
  var reward = 0f;
  var lost = false;
  var in_bricks = 0u;
  let brick = select(0u, 1u << u32(10 * (now.y - 1) + now.x), now.y >= 1 && now.y <= 3);
  if (now.y < 0) {
    now.y = 0;
    now.step_y = 1;
  } else if ((now.bricks & brick) != 0u) {
    in_bricks = 1u;
    if (now.in_bricks == 0u) {
      reward = 1f;
      now.bricks &= ~brick;
      now.y = now.last_y;
      now.step_y = -now.step_y;
    }
  } else if (now.y == 9) {
    now.bricks = select(now.bricks, WALL, now.bricks == 0u);
    let below = now.last_x == now.paddle;
    let aside = !below && now.x == now.paddle;
    lost = !below && !aside;
    now.step_x = select(now.step_x, -now.step_x, aside);
    now.step_y = select(-now.step_y, now.step_y, lost);
    now.y = select(now.last_y, 9, lost);
  }
  now.in_bricks = in_bricks;
  *game = now;
  return Transition(reward, lost);
}
