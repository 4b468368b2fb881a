import type { Draws } from "../../../src/stats/random/draws.ts";
import type { EnvironmentReference } from "../environment-spec.ts";
import { ACTIONS, clamp, indexCell, toChoice } from "../minatar/game.reference.ts";

const CHANNELS = 7;
const COLUMN = 4;
const START = 9;
const PAUSE = 3;
const FRAMES = 2_500;
const CARS = Array.from({ length: 8 }, (_, car) => car);

interface Car {
  column: number;
  timer: number;
  interval: number;
  rightward: boolean;
}

interface Game {
  chicken: number;
  moveTimer: number;
  framesLeft: number;
  /** One in each of rows 1 to 8. */
  readonly cars: readonly Car[];
}

/** MinAtar's Freeway. */
export const freewayReference: EnvironmentReference = {
  reset(state, draws) {
    const cars = CARS.map(() => ({ column: 0, timer: 0, interval: 0, rightward: false }));
    drawCars(cars, draws);
    pack({ chicken: START, moveTimer: PAUSE, framesLeft: FRAMES, cars }, state);
  },
  observe(state, observation) {
    const { chicken, cars } = unpack(state);
    observation.fill(0);
    observation[indexCell(chicken, COLUMN, 0, CHANNELS)] = 1;
    for (const [index, { column, interval, rightward }] of cars.entries()) {
      observation[indexCell(index + 1, column, 1, CHANNELS)] = 1;
      observation[indexCell(index + 1, goOn(column, !rightward), 1 + interval, CHANNELS)] = 1;
    }
  },
  step(state, [action], draws) {
    const game = unpack(state);
    const way = action === ACTIONS.up ? -1 : action === ACTIONS.down ? 1 : 0;
    if (way !== 0 && game.moveTimer === 0) {
      game.moveTimer = PAUSE;
      game.chicken = clamp(game.chicken + way, 0, 9);
    }
    const arrived = game.chicken === 0;
    if (arrived) {
      drawCars(game.cars, draws);
      game.chicken = START;
    }
    for (const [index, car] of game.cars.entries()) {
      const meets = () => car.column === COLUMN && game.chicken === index + 1;
      if (meets()) game.chicken = START;
      if (car.timer > 0) {
        car.timer--;
        continue;
      }
      car.timer = car.interval;
      car.column = goOn(car.column, car.rightward);
      if (meets()) game.chicken = START;
    }
    game.moveTimer = Math.max(game.moveTimer - 1, 0);
    game.framesLeft--;
    pack(game, state);
    return { reward: arrived ? 1 : 0, terminated: game.framesLeft < 0 };
  },
};

/** The board is round. */
function goOn(column: number, rightward: boolean): number {
  return (column + (rightward ? 1 : 9)) % 10;
}

/** Steps between moves, less one, and direction: one of ten for each car. */
function drawCars(cars: readonly Car[], draws: Draws): void {
  const words = [...draws.words(), ...draws.words()];
  for (const [index, car] of cars.entries()) {
    const chosen = toChoice(words[index]!, 10);
    car.interval = car.timer = (chosen % 5) + 1;
    car.rightward = chosen >= 5;
  }
}

function unpack(state: Float64Array): Game {
  const [chicken, moveTimer, framesLeft, columns, timers, intervals, rightward] = state as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const cars = CARS.map((car) => ({
    column: (columns >>> (4 * car)) & 15,
    timer: (timers >>> (4 * car)) & 15,
    interval: (intervals >>> (4 * car)) & 15,
    rightward: ((rightward >>> car) & 1) === 1,
  }));
  return { chicken, moveTimer, framesLeft, cars };
}

function pack({ chicken, moveTimer, framesLeft, cars }: Game, state: Float64Array): void {
  const gather = (bits: (car: Car) => number, width: number) =>
    cars.reduce((sum, car, index) => sum + bits(car) * 2 ** (width * index), 0);
  state.set([
    chicken,
    moveTimer,
    framesLeft,
    gather(({ column }) => column, 4),
    gather(({ timer }) => timer, 4),
    gather(({ interval }) => interval, 4),
    gather(({ rightward }) => Number(rightward), 1),
  ]);
}
