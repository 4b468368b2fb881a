import type { EnvironmentReference } from "../environment-spec.ts";
import { ACTIONS, clamp, indexCell, toChoice } from "../minatar/game.reference.ts";

const WALL = 0x3fffffff;
type State = [number, number, number, number, number, number, number, number, number];

/** MinAtar's Breakout. Bricks are bit 10 · (row − 1) + column of rows 1 to 3. */
export const breakoutReference: EnvironmentReference = {
  reset(state, draws) {
    const atRight = toChoice(draws.words()[0], 2) === 1;
    const x = atRight ? 9 : 0;
    state.set([WALL, 4, x, 3, x, 3, atRight ? -1 : 1, 1, 0]);
  },
  observe(state, observation) {
    const [bricks, paddle, x, y, lastX, lastY] = state as unknown as State;
    observation.fill(0);
    observation[indexCell(9, paddle, 0, 4)] = 1;
    observation[indexCell(y, x, 1, 4)] = 1;
    observation[indexCell(lastY, lastX, 2, 4)] = 1;
    for (let brick = 0; brick < 30; brick++)
      if (((bricks >>> brick) & 1) === 1) observation[indexCell(1, brick, 3, 4)] = 1;
  },
  step(state, action) {
    let [bricks, paddle, x, y, lastX, lastY, stepX, stepY, inBricks] = state as unknown as State;
    if (action[0] === ACTIONS.left) paddle = clamp(paddle - 1, 0, 9);
    if (action[0] === ACTIONS.right) paddle = clamp(paddle + 1, 0, 9);
    [lastX, lastY] = [x, y];
    x += stepX;
    y += stepY;
    if (x < 0 || x > 9) {
      x = clamp(x, 0, 9);
      stepX = -stepX;
    }
    const wasInBricks = inBricks === 1;
    const brick = y >= 1 && y <= 3 ? 1 << (10 * (y - 1) + x) : 0;
    let reward = 0;
    let terminated = false;
    inBricks = 0;
    if (y < 0) {
      y = 0;
      stepY = -stepY;
    } else if ((bricks & brick) !== 0) {
      inBricks = 1;
      if (!wasInBricks) {
        reward = 1;
        bricks &= ~brick;
        y = lastY;
        stepY = -stepY;
      }
    } else if (y === 9) {
      if (bricks === 0) bricks = WALL;
      if (lastX === paddle) {
        y = lastY;
        stepY = -stepY;
      } else if (x === paddle) {
        y = lastY;
        [stepX, stepY] = [-stepX, -stepY];
      } else {
        terminated = true;
      }
    }
    state.set([bricks, paddle, x, y, lastX, lastY, stepX, stepY, inBricks]);
    return { reward, terminated };
  },
};
