import { describe, expect, test } from "vitest";
import { arm } from "../../../../kernels/environments/arm/arm.environment.ts";
import { sphere } from "../../../../kernels/environments/sphere/sphere.environment.ts";
import type { EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import { recombineMembers, perturbMember } from "../../../../kernels/rollout/noise.reference.ts";
import type { Population } from "../../../../src/gpu-runner/rollout/population.ts";
import { openStrategy } from "../../../../src/gpu-runner/training/open-strategy.ts";
import type { Strategy, StrategyContext } from "../../../../src/gpu-runner/training/strategy.ts";
import { decodeArchive, sizeOfElites } from "../../../../src/protocol/policies/archive-file.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import type { ProblemError } from "../../../../src/protocol/wire/problem.ts";
import { Algorithm } from "../../../../src/protocol/jobs/training.ts";

const network = { kind: "direct" } as const;

/** Solutions in the host's memory. */
function createPopulation(members: number, parameters: number): Population {
  const rows = new Float32Array(members * parameters);
  return {
    backend: "cpu-simd",
    members,
    parameters,
    write: async (first, values) => rows.set(values, first * parameters),
    read: async (first, count) => rows.slice(first * parameters, (first + count) * parameters),
    async perturb({ mean, sigma, ...key }) {
      for (let member = 0; member < members; member++) {
        rows.set(perturbMember(key, member, { mean, sigma }), member * parameters);
      }
    },
    async recombine({ utilities, ...key }) {
      const { sums, squares } = recombineMembers(key, utilities, parameters);
      return { sums: Float32Array.from(sums), squares: Float32Array.from(squares) };
    },
    breed: () => Promise.reject(new Error("not wanted here")),
    evaluate: () => Promise.reject(new Error("not wanted here")),
    release: async () => undefined,
  };
}

/** Fitness and measures of all members by the environment's reference. */
async function score({ reference, measures: width }: EnvironmentSpec, population: Population) {
  const { members, parameters } = population;
  const rows = await population.read(0, members);
  const fitness = new Float64Array(members);
  const measures = new Float64Array(members * width);
  const state = new Float64Array(2);
  const draws = { words: () => [0, 0, 0, 0] as const };
  for (let member = 0; member < members; member++) {
    const row = Float64Array.from(rows.subarray(member * parameters, (member + 1) * parameters));
    fitness[member] = reference!.step(state, row, draws).reward;
    reference!.measure!(state, measures.subarray(member * width, (member + 1) * width));
  }
  return { fitness, measures };
}

type Asked = Partial<Algorithm> & Pick<Algorithm, "name">;

function contextOf(environment: EnvironmentSpec, asked: Asked & Record<string, unknown>, seed = 1): StrategyContext {
  const algorithm = Algorithm.parse(asked);
  const parameters = environment.action.kind === "continuous" ? environment.action.size : 0;
  const population = createPopulation(algorithm.population, parameters);
  return { algorithm, environment, network, population, seed, saved: null };
}

async function play(context: StrategyContext, from: number, to: number, opened?: Strategy): Promise<Strategy> {
  const strategy = opened ?? (await openStrategy(context));
  for (let generation = from; generation < to; generation++) {
    await strategy.ask(generation);
    await strategy.tell({ generation, ...(await score(context.environment, context.population)) });
  }
  return strategy;
}

const small = { dims: [20, 20], population: 64 };

describe("searches with an archive", () => {
  const cases = [
    { name: "map-elites", ...small, startSigma: 0.5, bounded: false, sigma: 0.5, lineSigma: 0.2 },
    { name: "cma-me", ...small, covariance: "full" },
    { name: "cma-me", ...small, covariance: "separable" },
    { name: "cma-me", ...small, learningRate: 0.02, covariance: "separable" },
  ] as const;

  test.each(cases)("fill cells, and go on from what they saved to the bit: %o", async (asked) => {
    const context = contextOf(sphere, asked);
    const whole = await play(context, 0, 30);
    const { archive } = (await whole.describeArchive!())!;
    expect(archive.coverage).toBeGreaterThan(0.15);
    expect(archive.filled).toBe(Math.round(400 * archive.coverage));

    const first = contextOf(sphere, asked);
    const saved = await (await play(first, 0, 12)).save();
    const second = contextOf(sphere, asked);
    const resumed = await openStrategy({ ...second, saved });
    await play(second, 12, 30, resumed);
    expect(await resumed.save()).toEqual(await whole.save());
    expect(await resumed.policy()).toEqual(await whole.policy());
  });

  test("children find more cells of the arm than as many random solutions, along lines most", async () => {
    const coverageOf = async (asked: Record<string, unknown>, generations: number) => {
      const strategy = await play(contextOf(arm, { name: "map-elites", ...small, ...asked }), 0, generations);
      return (await strategy.describeArchive!())!.archive.coverage;
    };
    // The first generation is random, and one of as many members as the others have in all has no other.
    const random = await coverageOf({ population: 64 * 20 }, 1);
    const gaussian = await coverageOf({ operator: "gaussian" }, 20);
    const lines = await coverageOf({}, 20);
    expect(gaussian).toBeGreaterThan(random);
    expect(lines).toBeGreaterThan(gaussian);
  });

  test("leave the elites with what is said of them, and begin from those of another", async () => {
    const context = contextOf(arm, { name: "map-elites", ...small, offset: -1 });
    const strategy = await play(context, 0, 10);
    const [left] = await strategy.leave!();
    const { summary, ...elites } = decodeArchive(left!.bytes);
    expect(left).toMatchObject({ name: "archive", mediaType: "application/octet-stream" });
    expect(summary).toEqual((await strategy.describeArchive!())!.archive);
    const sum = elites.fitness.reduce((total, value) => total + value + 1, 0);
    expect(summary).toMatchObject({ environment: "arm", network, parameters: 100, dims: [20, 20], offset: -1 });
    expect(summary.qdScore).toBeCloseTo(sum, 9);
    expect(summary.best).toBe(Math.max(...elites.fitness));

    const same = await openStrategy({ ...context, elites });
    expect(decodeArchive((await same.leave!())[0]!.bytes)).toEqual({ summary, ...elites });
    const coarser = await openStrategy({ ...contextOf(arm, { name: "map-elites", dims: [5, 5] }), elites });
    const { archive } = (await coarser.describeArchive!())!;
    expect(archive.filled).toBeLessThanOrEqual(25);
    expect(archive.best).toBe(summary.best);
    expect(await coarser.policy()).toEqual(await strategy.policy());
  });

  test("annealed thresholds leave the best of each cell", async () => {
    const asked = { name: "cma-me", ...small, learningRate: 0.01, thresholdMin: 0 } as const;
    const context = contextOf(sphere, asked);
    const strategy = await openStrategy(context);
    const best = new Map<string, number>();
    for (let generation = 0; generation < 15; generation++) {
      await strategy.ask(generation);
      const told = { generation, ...(await score(sphere, context.population)) };
      for (const [member, value] of told.fitness.entries()) {
        const cell = [0, 1].map((axis) => Math.floor(20 * told.measures[2 * member + axis]! + 1e-6)).join();
        best.set(cell, Math.max(best.get(cell) ?? Number.NEGATIVE_INFINITY, Math.fround(value)));
      }
      await strategy.tell(told);
    }
    const { fitness } = decodeArchive((await strategy.leave!())[0]!.bytes);
    const rising = (a: number, b: number) => a - b;
    expect([...fitness].toSorted(rising)).toEqual([...best.values()].toSorted(rising));
  });

  test("a full covariance is for few parameters, and an archive for environments with measures", async () => {
    const many = {
      ...sphere,
      action: { ...sphere.action, size: LIMITS.fullCovarianceParameters + 1 },
    } as EnvironmentSpec;
    const refused = openStrategy(contextOf(many, { name: "cma-me", covariance: "full" }));
    await expect(refused).rejects.toSatisfy(
      ({ problem }: ProblemError) => problem.errors?.[0]?.pointer === "#/algorithm/covariance",
    );
    const chosen = await openStrategy(contextOf(many, { name: "cma-me" }));
    expect((await chosen.describeArchive!())!.covariance).toBe("separable");
    const plain = openStrategy(contextOf({ ...sphere, measures: 0 }, { name: "map-elites" }));
    await expect(plain).rejects.toThrow("measures");
  });

  test("nothing that improves makes CMA-ME begin anew at an elite", async () => {
    const context = contextOf(sphere, { name: "cma-me", ...small });
    const strategy = await play(context, 0, 3);
    const nothing = new Float64Array(64).fill(-1e6);
    const { measures } = await score(sphere, context.population);
    const restartsOf = async () => (await strategy.describeArchive!())!.restarts;
    const before = await restartsOf();
    const full = { fitness: nothing, measures: measures.fill(0.5) };
    await strategy.tell({ generation: 2, ...full });
    expect(await restartsOf()).toBe(before + 1);
    const rows = await context.population.read(0, 1);
    const { genomes } = decodeArchive((await strategy.leave!())[0]!.bytes);
    const known = Array.from({ length: genomes.length / 20 }, (_, row) => genomes.slice(20 * row, 20 * row + 20));
    expect(known).toContainEqual(rows);
  });
});

test("a default grid has no more cells than a file takes elites", async () => {
  const dimsOf = async (parameters: number) => {
    const context = contextOf(arm, { name: "map-elites", population: 2 });
    const strategy = await openStrategy({ ...context, population: createPopulation(2, parameters) });
    return (await strategy.describeArchive!())!.archive.dims;
  };
  expect(await dimsOf(100)).toEqual([100, 100]);
  const [width = 0, height = 0] = await dimsOf(5_000);
  expect(width).toBe(height);
  expect(sizeOfElites(width * height, 5_000, 2)).toBeLessThan(LIMITS.jobArtifactBytes);
  expect(sizeOfElites((width + 1) * (height + 1), 5_000, 2)).toBeGreaterThan(0.99 * LIMITS.jobArtifactBytes);
});
