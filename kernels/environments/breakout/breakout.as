// The twin of breakout.wgsl: the words of its struct `Game`.

const WALL: u32 = 0x3fffffff;
const PADDLE: usize = 4;
const X: usize = 8;
const Y: usize = 12;
const LAST_X: usize = 16;
const LAST_Y: usize = 20;
const STEP_X: usize = 24;
const STEP_Y: usize = 28;
const IN_BRICKS: usize = 32;

function startGame(game: usize): void {
  drawWords();
  const atRight = toChoice(word0, 2) == 1;
  const x = atRight ? 9 : 0;
  store<u32>(game, WALL);
  store<i32>(game, 4, PADDLE);
  store<i32>(game, x, X);
  store<i32>(game, 3, Y);
  store<i32>(game, x, LAST_X);
  store<i32>(game, 3, LAST_Y);
  store<i32>(game, atRight ? -1 : 1, STEP_X);
  store<i32>(game, 1, STEP_Y);
  store<u32>(game, 0, IN_BRICKS);
}

// @ts-ignore: decorator
@inline
function showGame(game: usize, observation: usize): void {
  showCell(observation, 9, load<i32>(game, PADDLE), 0);
  showCell(observation, load<i32>(game, Y), load<i32>(game, X), 1);
  showCell(observation, load<i32>(game, LAST_Y), load<i32>(game, LAST_X), 2);
  for (let bricks = load<u32>(game); bricks != 0; bricks &= bricks - 1) showCell(observation, 1, ctz(bricks), 3);
}

function playGame(game: usize, action: u32): bool {
  const paddle = moveWithin(load<i32>(game, PADDLE), action == LEFT, action == RIGHT, 0, 9);
  const lastX = load<i32>(game, X);
  const lastY = load<i32>(game, Y);
  let bricks = load<u32>(game);
  let stepX = load<i32>(game, STEP_X);
  let stepY = load<i32>(game, STEP_Y);
  const flown = lastX + stepX;
  const x = min(max(flown, 0), 9);
  let y = lastY + stepY;
  if (x != flown) stepX = -stepX;
  let lost = false;
  let inBricks: u32 = 0;
  rewardOfOne = 0;
  const brick: u32 = y >= 1 && y <= 3 ? 1 << (10 * (y - 1) + x) : 0;
  if (y < 0) {
    y = 0;
    stepY = 1;
  } else if ((bricks & brick) != 0) {
    inBricks = 1;
    if (load<u32>(game, IN_BRICKS) == 0) {
      rewardOfOne = 1;
      bricks &= ~brick;
      y = lastY;
      stepY = -stepY;
    }
  } else if (y == 9) {
    if (bricks == 0) bricks = WALL;
    const below = lastX == paddle;
    const aside = !below && x == paddle;
    lost = !below && !aside;
    if (aside) stepX = -stepX;
    if (!lost) {
      stepY = -stepY;
      y = lastY;
    }
  }
  store<u32>(game, bricks);
  store<i32>(game, paddle, PADDLE);
  store<i32>(game, x, X);
  store<i32>(game, y, Y);
  store<i32>(game, lastX, LAST_X);
  store<i32>(game, lastY, LAST_Y);
  store<i32>(game, stepX, STEP_X);
  store<i32>(game, stepY, STEP_Y);
  store<u32>(game, inBricks, IN_BRICKS);
  return lost;
}
