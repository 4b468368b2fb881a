import type { ReplayField } from "../../protocol/jobs/evaluation/replay-file.ts";
import { numbersOf, type ReplayRecord } from "./replay.ts";

/** Role of a shape, which decides its colour. */
export type ShapeRole = "ground" | "body" | "limb" | "joint" | "goal";

/** A shape to draw, in metres of the environment; y points up. */
export type Shape =
  | { readonly kind: "line"; readonly role: ShapeRole; readonly points: readonly (readonly [number, number])[] }
  | { readonly kind: "circle"; readonly role: ShapeRole; readonly at: readonly [number, number]; readonly r: number }
  | {
      readonly kind: "box";
      readonly role: ShapeRole;
      /** Its middle. */
      readonly at: readonly [number, number];
      readonly size: readonly [number, number];
    };

/** One state as a picture. */
export interface Scene {
  readonly left: number;
  readonly bottom: number;
  readonly width: number;
  readonly height: number;
  readonly shapes: readonly Shape[];
}

type Read = (name: string) => readonly number[];
type DrawScene = (read: Read) => Scene;

const SCENES: Readonly<Record<string, DrawScene>> = {
  cartpole: (read) => drawCart(read("x"), read("angle"), { reach: 2.4, length: 1, turn: 1, swings: false }),
  "cartpole-swing-up": swingUp,
  "cartpole-swing-up-hard": swingUp,
  "inverted-pendulum": (read) => drawCart(read("x"), read("angle"), { reach: 1, length: 0.6, turn: 1, swings: false }),
  "inverted-double-pendulum": (read) => {
    const [x = 0, first = 0, second = 0] = read("place");
    return drawCart([x], [first, first + second], { reach: 1, length: 0.6, turn: 1, swings: false });
  },
  // Its angle grows against the clock, from upright.
  pendulum: (read) => drawLinks([-read("angle")[0]!], 1),
  acrobot: (read) => {
    const [first = 0, second = 0] = read("angles");
    // Counted from hanging down, against the clock.
    return drawLinks([Math.PI - first, Math.PI - first - second], 1, 1);
  },
  "mountain-car": (read) => drawHill(read("position")[0]!, 0.5),
  "mountain-car-continuous": (read) => drawHill(read("position")[0]!, 0.45),
};

/** The picture of a state; null of an environment that has none. */
export function drawScene(environment: string, fields: readonly ReplayField[], record: ReplayRecord): Scene | null {
  const draw = SCENES[environment];
  return draw === undefined ? null : draw((name) => numbersOf(fields, record, `state.${name}`) ?? [0]);
}

interface CartLook {
  /** Largest distance of the cart to either side. */
  readonly reach: number;
  /** Length of each pole. */
  readonly length: number;
  /** 1 where angles grow with the clock, −1 where against it. */
  readonly turn: 1 | -1;
  /** Whether the poles may hang down. */
  readonly swings: boolean;
}

function swingUp(read: Read): Scene {
  return drawCart(read("x"), read("angle"), { reach: 2.4, length: 1.2, turn: -1, swings: true });
}

/** Poles on each other on a cart on a rail; angles are from upright. */
function drawCart(
  [x = 0]: readonly number[],
  angles: readonly number[],
  { reach, length, turn, swings }: CartLook,
): Scene {
  const size = reach / 6;
  const points: [number, number][] = [[x, 0]];
  for (const angle of angles) points.push(step(points.at(-1)!, turn * angle, length));
  const high = angles.length * length + size;
  const wide = reach + size + 0.1;
  return {
    left: -wide,
    bottom: swings ? -high : -2 * size,
    width: 2 * wide,
    height: high + (swings ? high : 2 * size),
    shapes: [
      {
        kind: "line",
        role: "ground",
        points: [
          [-reach, -size / 2],
          [reach, -size / 2],
        ],
      },
      ...[-reach, reach].map((at): Shape => ({
        kind: "line",
        role: "goal",
        points: [
          [at, -size],
          [at, size / 2],
        ],
      })),
      { kind: "box", role: "body", at: [x, -size / 4], size: [size * 1.4, size / 2] },
      ...drawChain(points, size / 6),
    ],
  };
}

/** Links that hang together at a fixed point, by their angles from upright; a line that they shall reach, where there is one. */
function drawLinks(angles: readonly number[], length: number, line?: number): Scene {
  const points: [number, number][] = [[0, 0]];
  for (const angle of angles) points.push(step(points.at(-1)!, angle, length));
  const reach = angles.length * length * 1.15;
  const goal: Shape[] =
    line === undefined
      ? []
      : [
          {
            kind: "line",
            role: "goal",
            points: [
              [-reach, line],
              [reach, line],
            ],
          },
        ];
  const shapes = [...goal, ...drawChain(points, reach / 30)];
  return { left: -1.6 * reach, bottom: -reach, width: 3.2 * reach, height: 2 * reach, shapes };
}

function drawChain(points: readonly (readonly [number, number])[], r: number): Shape[] {
  return [
    { kind: "line", role: "limb", points },
    ...points.map((at): Shape => ({ kind: "circle", role: "joint", at, r })),
  ];
}

function step([x, y]: readonly [number, number], angle: number, length: number): [number, number] {
  return [x + length * Math.sin(angle), y + length * Math.cos(angle)];
}

const HILL = { from: -1.2, to: 0.6, samples: 60 } as const;

/** A car in a valley, and the flag that it shall reach. */
function drawHill(position: number, goal: number): Scene {
  const heightAt = (x: number) => 0.45 * Math.sin(3 * x) + 0.55;
  const points = Array.from({ length: HILL.samples + 1 }, (_, index): [number, number] => {
    const x = HILL.from + ((HILL.to - HILL.from) * index) / HILL.samples;
    return [x, heightAt(x)];
  });
  const flag = heightAt(goal);
  return {
    left: HILL.from - 0.1,
    bottom: 0,
    width: HILL.to - HILL.from + 0.2,
    height: 1.25,
    shapes: [
      { kind: "line", role: "ground", points },
      {
        kind: "line",
        role: "goal",
        points: [
          [goal, flag],
          [goal, flag + 0.15],
          [goal + 0.07, flag + 0.12],
          [goal, flag + 0.09],
        ],
      },
      { kind: "circle", role: "body", at: [position, heightAt(position) + 0.045], r: 0.04 },
    ],
  };
}
