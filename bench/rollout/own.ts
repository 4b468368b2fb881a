import { readFile } from "node:fs/promises";
import { environmentNamed } from "../../kernels/environments/registry.ts";
import type { Population } from "../../src/gpu-runner/rollout/population.ts";
import type { Entry } from "../contest.ts";
import { COMPARED, listStarts, type RolloutCase, writeFirstEpisodes } from "./rollout-case.ts";

const SEED = 11;
/** Shortest duration of a round, which has at least one evaluation. */
export const ROUND_MS = 1_000;

/** A population of ours, as the product opens it: weights are where it computes, results in host memory. */
export async function enterPopulation(
  population: Population,
  { environment, episodes, weightsFile }: RolloutCase,
  about: Omit<Entry["opened"], "output">,
): Promise<Entry> {
  await population.write(0, await readRows(weightsFile));
  const plan = { seed: SEED, firstEpisode: 0, commonRandom: false };
  const first = await population.evaluate({ ...plan, episodes: 1 });
  const starts = listStarts(environmentNamed(environment), SEED);
  const output = writeFirstEpisodes(
    starts.slice(0, COMPARED).map((observation, member) => ({
      observation,
      length: first.lengths[member]!,
      total: first.returns[member]!,
    })),
  );
  await population.evaluate({ ...plan, episodes });
  return {
    opened: { output, ...about },
    async measure() {
      const startedMs = performance.now();
      let steps = 0;
      while (performance.now() - startedMs < ROUND_MS) {
        const { lengths } = await population.evaluate({ ...plan, episodes });
        for (const length of lengths) steps += length;
      }
      return { steps: (1e3 * steps) / (performance.now() - startedMs) };
    },
    close: () => population.release(),
  };
}

/** The rows of a weights file. */
export async function readRows(file: string): Promise<Float32Array<ArrayBuffer>> {
  return new Float32Array(new Uint8Array(await readFile(file)).buffer);
}
