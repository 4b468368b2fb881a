import { describe, expect, test } from "vitest";
import { createDraws } from "../../src/stats/random/draws.ts";
import { countStateWords } from "./environment-spec.ts";
import { environmentNamed } from "./registry.ts";

const EPISODES = 4_000;

interface Moments {
  readonly mean: number;
  readonly deviation: number;
}
type Spread = { readonly low: number; readonly high: number } | Moments | number;

const uniform = (bound: number, count: number): Spread[] =>
  Array.from({ length: count }, () => ({ low: -bound, high: bound }));
const normal = (deviation: number, count: number, mean = 0): Spread[] =>
  Array.from({ length: count }, () => ({ mean, deviation }));

/** How every number of a state begins in Gymnasium's and EvoJAX's sources: bounds, mean and deviation, or a constant. */
const STARTS: Readonly<Record<string, readonly Spread[]>> = {
  acrobot: uniform(0.1, 4),
  arm: [0, 0],
  cartpole: uniform(0.05, 4),
  "cartpole-swing-up": [...normal(0.2, 2), ...normal(0.2, 1, Math.PI), ...normal(0.2, 1)],
  "cartpole-swing-up-hard": [
    { low: -2.4, high: 2.4 },
    { low: -10, high: 10 },
    { low: Math.PI / 2, high: (3 * Math.PI) / 2 },
    { low: -10, high: 10 },
  ],
  "inverted-double-pendulum": [...uniform(0.1, 3), ...normal(0.1, 3), 0],
  "inverted-pendulum": uniform(0.01, 4),
  "mountain-car": [{ low: -0.6, high: -0.4 }, 0],
  "mountain-car-continuous": [{ low: -0.6, high: -0.4 }, 0],
  pendulum: [
    { low: -Math.PI, high: Math.PI },
    { low: -1, high: 1 },
  ],
  sphere: [0, 0],
  xor: [0],
};

describe("episodes begin as in the sources", () => {
  test.each(Object.entries(STARTS))("%s", (name, spreads) => {
    const environment = environmentNamed(name);
    const states: Float64Array[] = Array.from({ length: EPISODES }, (_, episode) => {
      const state = new Float64Array(countStateWords(environment));
      environment.reference!.reset(state, createDraws({ seed: 5, stream: 1, member: 0, episode, step: 0 }));
      return state;
    });
    expect(spreads).toHaveLength(states[0].length);
    for (const [index, spread] of spreads.entries()) {
      const numbers = states.map((state) => state[index]);
      const where = `number ${index}`;
      if (typeof spread === "number") {
        expect(new Set(numbers), where).toEqual(new Set([spread]));
      } else if ("low" in spread) {
        const { low, high } = spread;
        const close = 0.005 * (high - low);
        expect(Math.min(...numbers), where).toBeGreaterThanOrEqual(low);
        expect(Math.min(...numbers), where).toBeLessThan(low + close);
        expect(Math.max(...numbers), where).toBeLessThanOrEqual(high);
        expect(Math.max(...numbers), where).toBeGreaterThan(high - close);
        expectMoments(numbers, { mean: (low + high) / 2, deviation: (high - low) / Math.sqrt(12) }, where);
      } else {
        expectMoments(numbers, spread, where);
      }
    }
  });
});

/** Within four standard errors; a deviation's is at most 1/√(2n) of it for these distributions. */
function expectMoments(numbers: readonly number[], { mean, deviation }: Moments, where: string): void {
  const found = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  const square = numbers.reduce((sum, number) => sum + (number - found) ** 2, 0) / (numbers.length - 1);
  expect(Math.abs(found - mean), where).toBeLessThan((4 * deviation) / Math.sqrt(numbers.length));
  expect(Math.abs(Math.sqrt(square) / deviation - 1), where).toBeLessThan(4 / Math.sqrt(2 * numbers.length));
}
