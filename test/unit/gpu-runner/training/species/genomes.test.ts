import { describe, expect, it } from "vitest";
import { openGraph } from "../../../../../kernels/rollout/graph.reference.ts";
import { countParameters } from "../../../../../kernels/rollout/policy-layout.ts";
import {
  createChance,
  type Gene,
  type Genome,
  leadsTo,
  listHidden,
} from "../../../../../src/gpu-runner/training/species/genome.ts";
import { crossOver, mutate } from "../../../../../src/gpu-runner/training/species/vary-genome.ts";
import { measureDistance } from "../../../../../src/gpu-runner/training/species/speciate.ts";
import { encodeGenome } from "../../../../../src/gpu-runner/training/species/open-species.ts";
import {
  addConnection,
  addNode,
  beginInnovations,
  createGenome,
  firstInnovations,
} from "../../../../../src/gpu-runner/training/species/innovate.ts";

/** Inputs 0 to 2, bias 3, outputs 4 and 5, hidden nodes from 6. */
const PORTS = { inputs: 3, outputs: 2 };
const BOUNDS = { hiddenNodes: 12, connections: 40 };
const NETWORK = { kind: "graph", ...BOUNDS } as const;
const ENVIRONMENT = { observationSize: 3, action: { kind: "discrete", count: 2 } } as const;

const chanceOf = (child: number) => createChance({ seed: 3, stream: 1, generation: 0, child });
const gene = (innovation: number, weight: number, rest: Partial<Gene> = {}): Gene => {
  return { innovation, source: innovation % 4, target: 4, weight, enabled: true, ...rest };
};

/** A genome of many mutations, none of them seen by others. */
function grow(child: number, rounds = 60): Genome {
  const chance = chanceOf(child);
  const innovations = beginInnovations(firstInnovations(PORTS));
  let genome = createGenome(PORTS, chance);
  for (let round = 0; round < rounds; round++) {
    innovations.made.clear();
    genome = mutate(genome, PORTS, BOUNDS, { addNode: 0.2, addConnection: 0.4, sigma: 0.5 }, innovations, chance);
  }
  return genome;
}

/** Value of a genome's node, straight from its definition. */
function compute(genome: Genome, inputs: readonly number[], node: number): number | undefined {
  if (node < PORTS.inputs) return inputs[node]!;
  if (node === PORTS.inputs) return 1;
  const terms = genome
    .filter(({ target, enabled }) => enabled && target === node)
    .map(({ source, weight }) => [compute(genome, inputs, source), Math.fround(weight)] as const)
    .filter(([value]) => value !== undefined);
  if (terms.length === 0 && node >= 6) return undefined;
  return 1 / (1 + Math.exp(-4.9 * terms.reduce((sum, [value, weight]) => sum + value! * weight, 0)));
}

describe("a genome", () => {
  it("begins with every input and the bias connected to every output", () => {
    const genome = createGenome(PORTS, chanceOf(0));
    expect(genome.map(({ source, target }) => [source, target])).toEqual(
      [4, 5].flatMap((target) => [0, 1, 2, 3].map((source) => [source, target])),
    );
    expect(genome.map(({ innovation }) => innovation)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(firstInnovations(PORTS)).toEqual({ innovation: 8, node: 6 });
  });

  it("stays without rings, within its bounds and in order, whatever happens to it", () => {
    for (let child = 0; child < 30; child++) {
      const genome = grow(child);
      expect(genome.length).toBeLessThanOrEqual(BOUNDS.connections);
      expect(listHidden(genome, PORTS).length).toBeLessThanOrEqual(BOUNDS.hiddenNodes);
      const innovations = genome.map(({ innovation }) => innovation);
      expect(innovations).toEqual([...new Set(innovations)].toSorted((a, b) => a - b));
      expect(new Set(genome.map(({ source, target }) => `${source} ${target}`)).size).toBe(genome.length);
      for (const { source, target } of genome) {
        expect(leadsTo(genome, target, source)).toBe(false);
        expect(target).toBeGreaterThan(3);
        expect([4, 5]).not.toContain(source);
      }
    }
  });

  it("computes as a row of a graph what its connections say", () => {
    let differing = 0;
    for (let child = 0; child < 30; child++) {
      const genome = grow(child);
      const row = encodeGenome(genome, PORTS, countParameters(NETWORK, ENVIRONMENT));
      const inputs = [0.3, -0.8, 0.1 * child];
      const outputs = openGraph(ENVIRONMENT, NETWORK, row)(Float64Array.from(inputs));
      expect(outputs[0]).toBeCloseTo(compute(genome, inputs, 4)!, 12);
      expect(outputs[1]).toBeCloseTo(compute(genome, inputs, 5)!, 12);
      if (listHidden(genome, PORTS).length > 2) differing++;
    }
    expect(differing).toBeGreaterThan(20);
  });
});

describe("new structure", () => {
  it("has the same numbers where it is made twice in a generation, and others in the next", () => {
    const genome = [gene(0, 2)];
    const innovations = beginInnovations(firstInnovations(PORTS));
    const first = addNode(genome, PORTS, BOUNDS, innovations, chanceOf(1));
    expect(addNode(genome, PORTS, BOUNDS, innovations, chanceOf(2))).toEqual(first);
    expect(first).toEqual([
      gene(0, 2, { enabled: false }),
      gene(8, 1, { source: 0, target: 6 }),
      gene(9, 2, { source: 6, target: 4 }),
    ]);
    const later = addNode(genome, PORTS, BOUNDS, beginInnovations(innovations.next), chanceOf(1));
    expect(later.map(({ innovation }) => innovation)).toEqual([0, 10, 11]);
    expect(listHidden(later, PORTS)).toEqual([7]);
  });

  it("is not made where there is no room", () => {
    const genome = [gene(0, 2), gene(1, 1)];
    const innovations = beginInnovations(firstInnovations(PORTS));
    expect(addNode(genome, PORTS, { hiddenNodes: 0, connections: 9 }, innovations, chanceOf(1))).toBe(genome);
    expect(addNode(genome, PORTS, { hiddenNodes: 9, connections: 3 }, innovations, chanceOf(1))).toBe(genome);
    expect(addConnection(genome, PORTS, { hiddenNodes: 9, connections: 2 }, innovations, chanceOf(1))).toBe(genome);
  });

  it("joins what is not joined, and switches on what was off", () => {
    const all = createGenome(PORTS, chanceOf(0));
    const innovations = beginInnovations(firstInnovations(PORTS));
    expect(addConnection(all, PORTS, BOUNDS, innovations, chanceOf(1))).toBe(all);
    const off = all.map((one) => (one.innovation === 5 ? { ...one, enabled: false } : one));
    expect(addConnection(off, PORTS, BOUNDS, innovations, chanceOf(1))).toEqual(all);
    const joined = addConnection(all.slice(0, 7), PORTS, BOUNDS, innovations, chanceOf(1));
    expect(joined[7]).toMatchObject({ source: 3, target: 5, enabled: true });
  });
});

describe("a distance", () => {
  it("counts excess and disjoint genes by the larger genome, and what weights differ by", () => {
    const a = [gene(0, 1), gene(1, 2), gene(3, 0)];
    const b = [gene(0, 2), gene(1, 0), gene(2, 0), gene(4, 0), gene(5, 0)];
    // Disjoint: 2 and 3; excess: 4 and 5; matching weights differ by 1.5 on average.
    expect(measureDistance(a, b)).toBeCloseTo(2 / 5 + 2 / 5 + 0.4 * 1.5, 12);
    expect(measureDistance(b, a)).toBe(measureDistance(a, b));
    expect(measureDistance(a, a)).toBe(0);
    expect(measureDistance([], [])).toBe(0);
    expect(measureDistance([], a)).toBe(1);
  });
});

describe("a child of two", () => {
  const fitter = [gene(0, 1), gene(1, 1), gene(2, 1, { enabled: false })];
  const other = [gene(0, -1), gene(2, -1), gene(3, -1)];
  const children = Array.from({ length: 400 }, (_, child) => crossOver(fitter, other, chanceOf(child)));
  const shareOf = (test: (child: Genome) => boolean) => children.filter(test).length / children.length;

  it("has the genes of the fitter one, with either's weight where both have them", () => {
    expect(new Set(children.map((child) => child.map(({ innovation }) => innovation).join()))).toEqual(
      new Set(["0,1,2"]),
    );
    expect(shareOf((child) => child[0]!.weight === 1)).toBeCloseTo(0.5, 1);
    expect(shareOf((child) => child[1]!.weight === 1)).toBe(1);
  });

  it("mostly leaves off what is off in either parent", () => {
    expect(shareOf((child) => !child[2]!.enabled)).toBeCloseTo(0.75, 1);
    expect(shareOf((child) => child[0]!.enabled)).toBe(1);
  });
});
