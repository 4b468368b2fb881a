import { describe, expect, it } from "vitest";
import { cartpole } from "../../../../kernels/environments/cartpole/cartpole.environment.ts";
import { chooseParents, openGenetic } from "../../../../src/gpu-runner/training/genetic.ts";
import type { PolicyNetwork } from "../../../../src/protocol/models/policy-network.ts";
import { createArrayPopulation } from "./array-population.ts";

describe("parents", () => {
  const selection = { seed: 5, generation: 2, elites: 2, tournament: 3 };

  it("of the first members are the fittest, best first; of equals the first, and who failed last", () => {
    const fitness = Float64Array.of(Number.NaN, 1, 3, 3, -5);
    expect([...chooseParents({ ...selection, elites: 5, fitness })]).toEqual([2, 2, 3, 3, 1, 1, 4, 4, 0, 0]);
  });

  it("of the others have won a tournament", () => {
    const fitness = Float64Array.from({ length: 4096 }, (_, member) => (member * 2777) % 4096);
    const parents = chooseParents({ ...selection, fitness }).slice(4);
    const chosen = [...parents].map((member) => fitness[member]! / 4096);
    // The largest of three uniform numbers is expected at three quarters.
    expect(chosen.reduce((sum, value) => sum + value, 0) / chosen.length).toBeCloseTo(0.75, 1);
    expect(new Set(chosen).size).toBeGreaterThan(1_000);
    const same = chosen.filter((value, index) => index % 2 === 0 && chosen[index + 1] === value);
    expect(same.length).toBeLessThan(20);
  });

  it("are drawn from all where the tournament is one, and others in another generation", () => {
    const fitness = Float64Array.from({ length: 1024 }, (_, member) => member);
    const drawn = [...chooseParents({ ...selection, elites: 0, tournament: 1, fitness })];
    expect(drawn.reduce((sum, member) => sum + member, 0) / drawn.length / 1024).toBeCloseTo(0.5, 1);
    expect([...chooseParents({ ...selection, generation: 3, elites: 0, tournament: 1, fitness })]).not.toEqual(drawn);
  });
});

describe("a genetic algorithm", () => {
  it("keeps its elites to the bit, and has them first", async () => {
    const algorithm = {
      name: "genetic",
      population: 16,
      mutationRate: 1,
      sigma: 1,
      elites: 3,
      tournament: 2,
    } as const;
    const network: PolicyNetwork = { kind: "mlp", hidden: [], activation: "none", outputActivation: "none" };
    const { population } = createArrayPopulation(16, 10, () => 0);
    const context = { algorithm, environment: cartpole, network, population, seed: 1, saved: null };
    const strategy = await openGenetic(context);
    await strategy.ask(0);
    const before = await population.read(0, 16);
    const fitness = Float64Array.from({ length: 16 }, (_, member) => -Math.abs(member - 6.1));
    await strategy.tell({ generation: 0, fitness, measures: new Float64Array(0) });
    await strategy.ask(1);
    const rowOf = (member: number) => before.slice(10 * member, 10 * member + 10);
    const elites = await population.read(0, 3);
    expect(elites).toEqual(Float32Array.of(...rowOf(6), ...rowOf(7), ...rowOf(5)));
    expect(await population.read(3, 1)).not.toEqual(rowOf(3));
  });
});
