import { toUniform } from "../../../src/stats/random/draws.ts";
import type { EnvironmentReference } from "../environment-spec.ts";
import { ACTIONS, clamp, indexCell, toChoice } from "../minatar/game.reference.ts";

const ROWS = [1, 2, 3, 4, 5, 6, 7, 8];
const SPAWN_START = 10;
const MOVE_START = 5;
const RAMP_INTERVAL = 100;

interface Thing {
  column: number;
  readonly rightward: boolean;
  readonly gold: boolean;
}

interface Game {
  playerX: number;
  playerY: number;
  /** By row; at most one crosses it. */
  readonly things: Map<number, Thing>;
  spawnInterval: number;
  spawnTimer: number;
  moveInterval: number;
  moveTimer: number;
  rampTimer: number;
  ramps: number;
}

/** MinAtar's Asterix. */
export const asterixReference: EnvironmentReference = {
  reset(state) {
    state.set([5, 5, 0, 0, 0, 0, SPAWN_START, SPAWN_START, MOVE_START, MOVE_START, RAMP_INTERVAL, 0]);
  },
  observe(state, observation) {
    const { playerX, playerY, things } = unpack(state);
    observation.fill(0);
    observation[indexCell(playerY, playerX, 0, 4)] = 1;
    for (const [row, { column, rightward, gold }] of things) {
      observation[indexCell(row, column, gold ? 3 : 1, 4)] = 1;
      const behind = rightward ? column - 1 : column + 1;
      if (behind >= 0 && behind <= 9) observation[indexCell(row, behind, 2, 4)] = 1;
    }
  },
  step(state, action, draws) {
    const game = unpack(state);
    if (game.spawnTimer === 0) {
      const [side, kind, place] = draws.words();
      const free = ROWS.filter((row) => !game.things.has(row));
      if (free.length > 0) {
        const rightward = toUniform(side) < 1 / 2;
        const thing = { column: rightward ? 0 : 9, rightward, gold: toUniform(kind) < 1 / 3 };
        game.things.set(free[toChoice(place, free.length)]!, thing);
      }
      game.spawnTimer = game.spawnInterval;
    }
    const [across, down] = [stepOf(action[0]!, "left", "right"), stepOf(action[0]!, "up", "down")];
    game.playerX = clamp(game.playerX + across, 0, 9);
    game.playerY = clamp(game.playerY + down, 1, 8);
    let { reward, terminated } = meet(game);
    if (game.moveTimer === 0) {
      game.moveTimer = game.moveInterval;
      for (const [row, thing] of game.things) {
        thing.column += thing.rightward ? 1 : -1;
        if (thing.column < 0 || thing.column > 9) game.things.delete(row);
      }
      const then = meet(game);
      reward += then.reward;
      terminated ||= then.terminated;
    }
    game.spawnTimer--;
    game.moveTimer--;
    rampUp(game);
    pack(game, state);
    return { reward, terminated };
  },
};

function stepOf(action: number, back: keyof typeof ACTIONS, forth: keyof typeof ACTIONS): number {
  return action === ACTIONS[forth] ? 1 : action === ACTIONS[back] ? -1 : 0;
}

/** Gold at the player's cell is taken; an enemy there ends the episode. */
function meet({ playerX, playerY, things }: Game) {
  const thing = things.get(playerY);
  if (thing?.column !== playerX) return { reward: 0, terminated: false };
  if (thing.gold) things.delete(playerY);
  return { reward: thing.gold ? 1 : 0, terminated: !thing.gold };
}

function rampUp(game: Game): void {
  if (game.spawnInterval <= 1 && game.moveInterval <= 1) return;
  if (game.rampTimer >= 0) {
    game.rampTimer--;
    return;
  }
  if (game.moveInterval > 1 && game.ramps % 2 === 1) game.moveInterval--;
  if (game.spawnInterval > 1) game.spawnInterval--;
  game.ramps++;
  game.rampTimer = RAMP_INTERVAL;
}

function unpack(state: Float64Array): Game {
  const word = (index: number) => state[index]!;
  const has = (index: number, row: number) => ((word(index) >>> (row - 1)) & 1) === 1;
  const crossed = ROWS.filter((row) => has(2, row));
  return {
    playerX: word(0),
    playerY: word(1),
    things: new Map(
      crossed.map((row) => {
        const column = (word(5) >>> (4 * (row - 1))) & 15;
        return [row, { column, gold: has(3, row), rightward: has(4, row) }];
      }),
    ),
    spawnInterval: word(6),
    spawnTimer: word(7),
    moveInterval: word(8),
    moveTimer: word(9),
    rampTimer: word(10),
    ramps: word(11),
  };
}

function pack(game: Game, state: Float64Array): void {
  const { playerX, playerY, things, spawnInterval, spawnTimer, moveInterval, moveTimer, rampTimer, ramps } = game;
  const gather = (bits: (thing: Thing) => number, width: number) =>
    [...things].reduce((sum, [row, thing]) => sum + bits(thing) * 2 ** (width * (row - 1)), 0);
  state.set([
    playerX,
    playerY,
    gather(() => 1, 1),
    gather(({ gold }) => Number(gold), 1),
    gather(({ rightward }) => Number(rightward), 1),
    gather(({ column }) => column, 4),
    spawnInterval,
    spawnTimer,
    moveInterval,
    moveTimer,
    rampTimer,
    ramps,
  ]);
}
