import { describe, expect, it } from "vitest";
import { cartpole } from "../../../../kernels/environments/cartpole/cartpole.environment.ts";
import { openStrategy } from "../../../../src/gpu-runner/training/open-strategy.ts";
import type { Strategy, StrategyState } from "../../../../src/gpu-runner/training/strategy.ts";
import type { PolicyNetwork } from "../../../../src/protocol/models/policy-network.ts";
import { Algorithm } from "../../../../src/protocol/jobs/training.ts";
import { createArrayPopulation } from "./array-population.ts";

/** Four inputs, two outputs, nothing between them. */
const NETWORK: PolicyNetwork = { kind: "mlp", hidden: [], activation: "none", outputActivation: "none" };
const PARAMETERS = 10;
const MEMBERS = 32;

const sphere = (row: ArrayLike<number>) => -Array.from(row, (x) => (x - 1) ** 2).reduce((sum, x) => sum + x, 0);
/** A bowl with dents: the optimum is at 1. */
const rastrigin = (row: ArrayLike<number>) =>
  sphere(row) - Array.from(row, (x) => 0.1 * (1 - Math.cos(6 * Math.PI * (x - 1)))).reduce((sum, x) => sum + x, 0);

type Rate = (row: Float32Array<ArrayBuffer>, member: number) => number;

async function open(name: string, rate: Rate, options: object = {}, saved: StrategyState | null = null) {
  const algorithm = Algorithm.parse({ name, population: MEMBERS, ...options });
  const { population } = createArrayPopulation(MEMBERS, PARAMETERS, (row, _, member) => rate(row, member));
  const strategy = await openStrategy({
    algorithm,
    environment: cartpole,
    network: NETWORK,
    population,
    seed: 7,
    saved,
  });
  const live = async (generation: number) => {
    await strategy.ask(generation);
    const plan = { seed: 7, firstEpisode: 0, episodes: 1, commonRandom: true };
    const { returns } = await population.evaluate(plan);
    await strategy.tell({ generation, fitness: Float64Array.from(returns), measures: new Float64Array(0) });
  };
  return { strategy, live };
}

async function climb(name: string, rate: Rate, generations: number, options: object = {}): Promise<Strategy> {
  const { strategy, live } = await open(name, rate, options);
  for (let generation = 0; generation < generations; generation++) await live(generation);
  return strategy;
}

describe.each([
  ["openes", 200, { learningRate: 0.05 }],
  ["pgpe", 200, { learningRate: 0.05 }],
  ["sep-cma-es", 80, {}],
  ["genetic", 150, { sigma: 0.1, elites: 2, tournament: 3, mutationRate: 0.3 }],
] as const)("%s", (name, generations, options) => {
  it("climbs a sphere to its top", async () => {
    const policy = await (await climb(name, sphere, generations, options)).policy();
    expect(sphere(policy)).toBeGreaterThan(-0.02);
  });

  it("comes near the top of a bowl with dents", async () => {
    const policy = await (await climb(name, rastrigin, generations, { ...options, sigma: 0.5 })).policy();
    expect(rastrigin(policy)).toBeGreaterThan(-1);
  });

  it("learns nothing from fitness that says nothing of the members", async () => {
    const shuffled: Rate = (row, member) => sphere(row.map(() => Math.sin(member * 12.9898) * 43758.5453));
    const policy = await (await climb(name, shuffled, generations, options)).policy();
    expect(sphere(policy)).toBeLessThan(-1);
  });

  it("goes on from what it saved as if it had never stopped", async () => {
    const whole = await climb(name, sphere, 12, options);
    const half = await climb(name, sphere, 5, options);
    const { strategy, live } = await open(name, sphere, options, await half.save());
    for (let generation = 5; generation < 12; generation++) await live(generation);
    expect(await strategy.save()).toEqual(await whole.save());
  });

  it("saves copies", async () => {
    const { strategy, live } = await open(name, sphere, options);
    await live(0);
    const saved = await strategy.save();
    const before = structuredClone(saved);
    await live(1);
    expect(saved).toEqual(before);
  });

  it("refuses a state of another network", async () => {
    const saved = await (await climb(name, sphere, 1, options)).save();
    const vector = name === "genetic" ? "rows" : "mean";
    const short = { ...saved, [vector]: new Float64Array(3) };
    await expect(open(name, sphere, options, short)).rejects.toThrow(`3 numbers of '${vector}'`);
  });

  it("bears members that failed, and counts them as the worst", async () => {
    const failing: Rate = (row) => (row[0]! > 0.5 ? Number.NaN : sphere(row));
    const policy = await (await climb(name, failing, generations, options)).policy();
    expect(policy.every(Number.isFinite)).toBe(true);
    expect(policy[0]).toBeLessThan(0.6);
    expect(sphere(policy)).toBeGreaterThan(-1);
  });

  it("stays finite where all fail", async () => {
    const policy = await (await climb(name, () => Number.NaN, 30, options)).policy();
    expect(policy.every(Number.isFinite)).toBe(true);
  });
});

describe.each(["openes", "pgpe"])("%s where all members are equal", (name) => {
  it("stays where it is", async () => {
    const start = await (await open(name, () => 3)).strategy.policy();
    const policy = await (await climb(name, () => 3, 5)).policy();
    expect(policy).toEqual(start);
  });
});

describe("pgpe's sigmas", () => {
  it("shrink where the top is sharp and the mean is on it", async () => {
    const saved = await (await climb("pgpe", sphere, 300)).save();
    expect(Math.max(...saved["sigma"]!)).toBeLessThan(0.05);
  });

  it("grow in a direction that decides nothing less than they shrink elsewhere", async () => {
    const blindToFirst: Rate = (row) => sphere(Float64Array.from(row).fill(1, 0, 1));
    const { sigma } = await (await climb("pgpe", blindToFirst, 200)).save();
    expect(sigma![0]).toBeGreaterThan(2 * Math.max(...sigma!.slice(1)));
  });
});

describe("sep-CMA-ES's step size", () => {
  it("grows on a slope", async () => {
    const slope: Rate = (row) => row[0]!;
    const { sigma } = await (await climb("sep-cma-es", slope, 30)).save();
    expect(sigma![0]).toBeGreaterThan(5);
  });

  it("fits the scales of an ellipse", async () => {
    const ellipse: Rate = (row) => -Array.from(row, (x, index) => (10 ** (index / 3) * x) ** 2).reduce((a, b) => a + b);
    const { variances } = await (await climb("sep-cma-es", ellipse, 150)).save();
    expect(variances![0]! / variances![9]!).toBeGreaterThan(1_000);
  });
});
