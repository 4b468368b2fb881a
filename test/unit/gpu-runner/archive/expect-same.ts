import { expect } from "vitest";
import type { PlayedBatch, VectorBatch } from "./pyribs-vectors.ts";

/** The same elites, statuses and values as pyribs'; thresholds to rounding. */
export function expectSame(played: readonly PlayedBatch[], batches: readonly VectorBatch[], name: string): void {
  expect(played).toHaveLength(batches.length);
  for (const [index, expected] of batches.entries()) {
    const { thresholds, values, elitesMeasures, ...exact } = played[index]!;
    const { statuses, cells, elites } = expected;
    const elitesFitness = expected.elitesFitness.map(Math.fround);
    expect(exact, `${name}, batch ${index}`).toEqual({ statuses, cells, elites, elitesFitness });
    expectNear(thresholds, expected.thresholds, `thresholds of ${name}, batch ${index}`);
    expectNear(values, expected.values, `values of ${name}, batch ${index}`);
    expectNear(elitesMeasures, measuresOf(batches, elites), `measures of ${name}, batch ${index}`);
  }
}

function measuresOf(batches: readonly VectorBatch[], elites: readonly number[]): number[] {
  const axes = batches[0]!.measures.length / batches[0]!.fitness.length;
  const all = batches.flatMap(({ measures }) => measures);
  return elites.flatMap((elite) => all.slice(elite * axes, (elite + 1) * axes));
}

function expectNear(numbers: readonly number[], expected: readonly number[], what: string): void {
  expect(numbers, what).toHaveLength(expected.length);
  const off = numbers.map((number, index) => Math.abs(number - expected[index]!) / Math.max(1, Math.abs(number)));
  expect(Math.max(0, ...off), what).toBeLessThan(2e-6);
}
