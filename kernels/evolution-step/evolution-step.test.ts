import { describe, expect, test } from "vitest";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { evolutionStep } from "./evolution-step.kernel.ts";
import { evolutionStepReference } from "./evolution-step.reference.ts";

const shape = { members: 256, genes: 64, tournament: 3, elites: 4 };

/** Children of members whose genes all are the member's number, which is its fitness, too. */
function breed(settings: readonly number[], changes: { fitness?: Float32Array<ArrayBuffer>; seed?: number } = {}) {
  const { members, genes } = shape;
  const reference = evolutionStepReference(
    {
      population: new Float32Array(members * genes).map((_, index) => Math.floor(index / genes)),
      fitness: changes.fitness ?? new Float32Array(members).map((_, member) => member),
      settings: Float32Array.from(settings),
      key: Int32Array.of(changes.seed ?? 1, 0),
    },
    shape,
  );
  return Array.from({ length: members }, (_, member) =>
    Array.from({ length: genes }, (__, gene) => reference.element(member * genes + gene)),
  );
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe("a generation", () => {
  test("begins with its elites, best first; of equals the first, and NaN is worst", () => {
    const fitness = new Float32Array(shape.members);
    fitness.set([Number.NaN, 3, -0, 5, 3]);
    const children = breed([1, 1, 0, 255], { fitness });
    expect(children.slice(0, 4).map((genes) => new Set(genes))).toEqual(
      [3, 1, 4, 2].map((member) => new Set([member])),
    );
  });

  test("takes each gene from one of two parents, who won a tournament", () => {
    const children = breed([0, 1, 0, 255]).slice(shape.elites);
    expect(Math.max(...children.map((genes) => new Set(genes).size))).toBe(2);
    const shares = children.map((genes) => genes.filter((gene) => gene === genes[0]).length / shape.genes);
    expect(mean(shares)).toBeCloseTo(0.5, 1);
    // The expected maximum of three uniform draws is 3/4 of the way.
    expect(mean(children.flat()) / shape.members).toBeCloseTo(0.75, 1);
  });

  test("mutates genes at the rate, by a normal distribution, within the bounds", () => {
    const still = breed([0, 10, -1000, 1000]).slice(shape.elites).flat();
    const moved = breed([0.25, 10, -1000, 1000]).slice(shape.elites).flat();
    const steps = moved.map((gene, index) => (gene - (still[index] ?? 0)) / 10).filter((step) => step !== 0);
    expect(steps.length / moved.length).toBeCloseTo(0.25, 1);
    expect(mean(steps)).toBeCloseTo(0, 1);
    expect(mean(steps.map((step) => step ** 2))).toBeCloseTo(1, 1);
    expect(mean(steps.map((step) => step ** 4))).toBeCloseTo(3, 0);
    const clamped = breed([1, 1000, 10, 20]).slice(shape.elites).flat();
    expect([Math.min(...clamped), Math.max(...clamped)]).toEqual([10, 20]);
  });

  test("is another one with another seed", () => {
    expect(breed([0, 1, 0, 255], { seed: 2 })).not.toEqual(breed([0, 1, 0, 255]));
  });
});

testKernel(evolutionStep, [
  { members: 67, genes: 37, tournament: 3, elites: 5 },
  { members: 1, genes: 1, tournament: 1, elites: 1 },
  { members: 2, genes: 5, tournament: 64, elites: 1024 },
  { members: 1000, genes: 3, tournament: 4, elites: 1 },
  { members: 3, genes: 2048, tournament: 2, elites: 1 },
  { members: 16_384, genes: 16, tournament: 2, elites: 8 },
]);
