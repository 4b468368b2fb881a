import { environmentNamed } from "../../kernels/environments/registry.ts";
import { createLocator } from "../../src/gpu-runner/rollout/archive-grid.ts";
import { seededUniform } from "../../kernels/seeded-uniform.ts";
import { openGpuPopulation } from "../../src/gpu-runner/rollout/gpu/open-gpu-population.ts";
import { scoreMembers } from "../../src/gpu-runner/training/fitness.ts";
import type { PolicyNetwork } from "../../src/protocol/models/policy-network.ts";
import type { Contender } from "../contest.ts";
import { openOwnGpu } from "../own-gpu.ts";

/** Generations of MAP-Elites on the adapter, with the archive's share of their time. */
export interface GenerationCase {
  readonly environment: string;
  readonly network: PolicyNetwork;
  readonly members: number;
  readonly episodes: number;
  readonly generations: number;
}

const GRID = { dims: [100, 100], ranges: [0, 1].map(() => ({ low: 0, high: 1 })), annealing: null };

/** Environments without measures get random ones: the archive's cost is the same. */
export const contender: Contender<GenerationCase> = async (input) => {
  const { members, episodes, network } = input;
  const own = await openOwnGpu();
  const environment = environmentNamed(input.environment);
  const population = await openGpuPopulation(own, { environment, network, members });
  const archive = await population.openArchive!(GRID);
  const { parameters } = population;
  await population.write(0, seededUniform(1, 0, members * parameters));
  let generation = 0;
  const play = async () => {
    const plan = { seed: 1, firstEpisode: generation * episodes, episodes, commonRandom: true };
    const startedMs = performance.now();
    const scores = scoreMembers(await population.evaluate(plan), members, episodes);
    const fitness = Float32Array.from(scores.fitness);
    const behaviour =
      scores.measures.length > 0 ? Float32Array.from(scores.measures) : drawMeasures(generation, members);
    const addedMs = performance.now();
    await archive.add(fitness, behaviour);
    generation++;
    await archive.emit({ seed: 1, generation, sigma: 0.05, lineSigma: 0.1, low: -1e6, high: 1e6 });
    await own.device.queue.onSubmittedWorkDone();
    const endedMs = performance.now();
    return { archiveMs: endedMs - addedMs, generationMs: endedMs - startedMs };
  };
  await play();
  const locate = createLocator(GRID);
  const { cells, measures } = await archive.read();
  const { vendor, architecture, device } = own.gpu.adapter.info;
  return {
    // 1 where every elite lies in its own cell.
    opened: {
      output: Float32Array.from(cells, (cell, slot) => Number(locate(measures, 2 * slot) === cell)),
      adapter: [vendor, architecture, device].filter(Boolean).join(" "),
    },
    async measure() {
      let [archiveMs, generationMs] = [0, 0];
      for (let count = 0; count < input.generations; count++) {
        const played = await play();
        archiveMs += played.archiveMs;
        generationMs += played.generationMs;
      }
      return { share: archiveMs / generationMs, generation: generationMs / input.generations };
    },
    close: async () => undefined,
  };
};

function drawMeasures(generation: number, members: number): Float32Array<ArrayBuffer> {
  return seededUniform(2, generation, 2 * members).map((value) => (value + 1) / 2);
}
