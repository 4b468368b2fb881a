import type { EnvironmentReference } from "../environment-spec.ts";
import { ACTIONS, clamp, indexCell } from "../minatar/game.reference.ts";

const CHANNELS = 6;
const MARCH_START = 12;
const MARCH_LEAST = 6;
const CANNON_PAUSE = 5;
const SHOT_PAUSE = 10;
const PLACES = Array.from({ length: 10 }, (_, place) => place);

/** Rows of cells, 1 where there is something. */
type Board = number[][];

interface Game {
  aliens: Board;
  bullets: Board;
  shots: Board;
  cannon: number;
  alienStep: number;
  marchInterval: number;
  marchTimer: number;
  shotTimer: number;
  cannonTimer: number;
}

/** MinAtar's SpaceInvaders. */
export const spaceInvadersReference: EnvironmentReference = {
  reset(state) {
    const timers = { marchInterval: MARCH_START, marchTimer: MARCH_START, shotTimer: SHOT_PAUSE, cannonTimer: 0 };
    pack({ aliens: swarm(), bullets: empty(), shots: empty(), cannon: 5, alienStep: -1, ...timers }, state);
  },
  observe(state, observation) {
    const { aliens, bullets, shots, cannon, alienStep } = unpack(state);
    observation.fill(0);
    observation[indexCell(9, cannon, 0, CHANNELS)] = 1;
    const shown = [
      [aliens, 1],
      [aliens, alienStep < 0 ? 2 : 3],
      [bullets, 4],
      [shots, 5],
    ] as const;
    for (const [board, channel] of shown)
      for (const [row, column] of listCells(board)) observation[indexCell(row, column, channel, CHANNELS)] = 1;
  },
  step(state, [action]) {
    const game = unpack(state);
    if (action === ACTIONS.fire && game.cannonTimer === 0) {
      game.bullets[9]![game.cannon] = 1;
      game.cannonTimer = CANNON_PAUSE;
    }
    if (action === ACTIONS.left) game.cannon = clamp(game.cannon - 1, 0, 9);
    if (action === ACTIONS.right) game.cannon = clamp(game.cannon + 1, 0, 9);
    game.bullets = [...game.bullets.slice(1), emptyRow()];
    game.shots = [emptyRow(), ...game.shots.slice(0, 9)];
    let terminated = game.shots[9]![game.cannon] === 1 || game.aliens[9]![game.cannon] === 1;
    if (game.marchTimer === 0) terminated = march(game) || terminated;
    if (game.shotTimer === 0) {
      game.shotTimer = SHOT_PAUSE;
      const [row, column] = findShooter(game);
      game.shots[row]![column] = 1;
    }
    const killed = listCells(game.aliens).filter(([row, column]) => game.bullets[row]![column] === 1);
    for (const [row, column] of killed) game.aliens[row]![column] = game.bullets[row]![column] = 0;
    game.cannonTimer = Math.max(game.cannonTimer - 1, 0);
    game.marchTimer--;
    game.shotTimer--;
    if (listCells(game.aliens).length === 0) {
      game.marchInterval = Math.max(game.marchInterval - 1, MARCH_LEAST);
      game.aliens = swarm();
    }
    pack(game, state);
    return { reward: killed.length, terminated };
  },
};

/** The swarm goes a step, or down and back from an edge. True where that is the end. */
function march(game: Game): boolean {
  game.marchTimer = Math.min(listCells(game.aliens).length, game.marchInterval);
  const edge = game.alienStep < 0 ? 0 : 9;
  if (game.aliens.some((row) => row[edge] === 1)) {
    game.alienStep = -game.alienStep;
    const landed = game.aliens[9]!.includes(1);
    // Aliens on the ground come back at the top, in a frame that is the last.
    game.aliens = [game.aliens[9]!, ...game.aliens.slice(0, 9)];
    return landed || game.aliens[9]![game.cannon] === 1;
  }
  game.aliens = game.aliens.map((row) => PLACES.map((column) => row[column - game.alienStep] ?? 0));
  return game.aliens[9]![game.cannon] === 1;
}

/** The lowest alien of the column nearest to the cannon, the left one of two. */
function findShooter({ aliens, cannon }: Game): readonly [number, number] {
  const column = PLACES.toSorted((a, b) => Math.abs(a - cannon) - Math.abs(b - cannon)).find((place) =>
    aliens.some((row) => row[place] === 1),
  )!;
  return [aliens.findLastIndex((row) => row[column] === 1), column];
}

function emptyRow(): number[] {
  return PLACES.map(() => 0);
}

function empty(): Board {
  return PLACES.map(emptyRow);
}

function swarm(): Board {
  return PLACES.map((row) => PLACES.map((column) => (row < 4 && column >= 2 && column < 8 ? 1 : 0)));
}

function listCells(board: Board): (readonly [number, number])[] {
  return board.flatMap((row, at) => row.flatMap((cell, column) => (cell === 1 ? [[at, column] as const] : [])));
}

/** Three rows of ten bits in a word. */
function packBoard(board: Board): number[] {
  const words = [0, 0, 0, 0];
  for (const [row, column] of listCells(board)) words[Math.floor(row / 3)]! += 2 ** (10 * (row % 3) + column);
  return words;
}

function unpackBoard(words: Float64Array): Board {
  return PLACES.map((row) => PLACES.map((column) => (words[Math.floor(row / 3)]! >>> (10 * (row % 3) + column)) & 1));
}

function unpack(state: Float64Array): Game {
  const [cannon, alienStep, marchInterval, marchTimer, shotTimer, cannonTimer] = state.subarray(12) as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [aliens, bullets, shots] = [0, 4, 8].map((at) => unpackBoard(state.subarray(at, at + 4))) as [
    Board,
    Board,
    Board,
  ];
  return { aliens, bullets, shots, cannon, alienStep, marchInterval, marchTimer, shotTimer, cannonTimer };
}

function pack({ aliens, bullets, shots, ...game }: Game, state: Float64Array): void {
  const { cannon, alienStep, marchInterval, marchTimer, shotTimer, cannonTimer } = game;
  const boards = [aliens, bullets, shots].flatMap(packBoard);
  state.set([...boards, cannon, alienStep, marchInterval, marchTimer, shotTimer, cannonTimer]);
}
