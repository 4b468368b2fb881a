/**
 * Measures how much of the grids of `arm` and `sphere` MAP-Elites fills, over seeds, beside the published figures:
 * `node bench/archive/prove-coverage.ts [--seeds 5] [--gpu]`; one line of JSON for each search. With `--gpu` on the
 * device that the environment names, else by the f64 references.
 */
import { parseArgs } from "node:util";
import { environmentNamed } from "../../kernels/environments/registry.ts";
import { BufferPool } from "../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { openGpu } from "../../src/gpu-runner/devices/gpu/device.ts";
import { openGpuPopulation } from "../../src/gpu-runner/rollout/gpu/open-gpu-population.ts";
import type { Population } from "../../src/gpu-runner/rollout/population.ts";
import { openStrategy } from "../../src/gpu-runner/training/open-strategy.ts";
import { scoreMembers } from "../../src/gpu-runner/training/fitness.ts";
import { Algorithm } from "../../src/protocol/jobs/training.ts";
import { openReferencePopulation } from "./open-reference-population.ts";

const { values } = parseArgs({ options: { seeds: { type: "string", default: "5" }, gpu: { type: "boolean" } } });
const network = { kind: "direct" } as const;
const fromNothing = { name: "map-elites", population: 500, bounded: false } as const;

/** Published figures, as mean and standard deviation. */
const SEARCHES = [
  {
    environment: "arm",
    generations: 50,
    algorithm: { name: "map-elites", population: 1_024, sigma: 0.05, lineSigma: 0.1, offset: -1 },
    published: { coverage: [0.251, 0.008], qdScore: [2_235, 68] },
  },
  {
    environment: "sphere",
    generations: 540,
    algorithm: { ...fromNothing, operator: "gaussian", sigma: 0.5, startSigma: 0.5, offset: 0 },
    published: { coverage: [0.677, 0.003], qdScore: null },
  },
  {
    environment: "sphere",
    generations: 540,
    algorithm: { ...fromNothing, sigma: 0.1, lineSigma: 0.2, startSigma: 0.1, offset: 0 },
    published: { coverage: [0.726, 0.013], qdScore: null },
  },
] as const;

const gpu = values.gpu === true ? await openGpu((reason) => console.error(reason)) : null;
const pool = gpu === null ? null : new BufferPool(gpu.device);

for (const { environment: name, generations, algorithm: asked, published } of SEARCHES) {
  const environment = environmentNamed(name);
  const algorithm = Algorithm.parse({ ...asked, dims: [100, 100] });
  const parameters = environment.action.kind === "continuous" ? environment.action.size : 0;
  const members = algorithm.population;
  const open = (): Population | Promise<Population> =>
    gpu === null || pool === null
      ? openReferencePopulation(environment, members, parameters)
      : openGpuPopulation({ device: gpu.device, pool }, { environment, network, members });
  const found = [];
  for (let seed = 1; seed <= Number(values.seeds); seed++) {
    const population = await open();
    const strategy = await openStrategy({ algorithm, environment, network, population, seed, saved: null });
    for (let generation = 0; generation < generations; generation++) {
      await strategy.ask(generation);
      const plan = { seed, firstEpisode: generation, episodes: 1, commonRandom: true };
      const { fitness, measures } = scoreMembers(await population.evaluate(plan), members, 1);
      await strategy.tell({ generation, fitness, measures });
    }
    const { coverage, qdScore } = (await strategy.describeArchive!())!.archive;
    found.push({ coverage, qdScore });
    await strategy.release?.();
    await population.release();
  }
  const coverage = describe(found.map((each) => each.coverage));
  const qdScore = describe(found.map((each) => each.qdScore));
  const held =
    within(coverage.mean, published.coverage) &&
    (published.qdScore === null || within(qdScore.mean, published.qdScore));
  console.log(JSON.stringify({ environment: name, generations, algorithm, coverage, qdScore, published, held }));
}
gpu?.device.destroy();

function describe(numbers: readonly number[]): { mean: number; deviation: number } {
  const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  const squares = numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / Math.max(1, numbers.length - 1)) };
}

/** True if a mean is within three standard deviations of the published one. */
function within(mean: number, [published, deviation]: readonly [number, number]): boolean {
  return Math.abs(mean - published) <= 3 * deviation;
}
