import { openHostArchive } from "../../src/gpu-runner/training/host-archive.ts";
import type { Contender } from "../contest.ts";
import { type ArchiveCase, gridOf, readCase, readOutput } from "./archive-case.ts";

/** Our archive in typed arrays, for a population in the host's memory. */
export const contender: Contender<ArchiveCase> = async (input) => {
  const { genomes, offers } = await readCase(input);
  const { batch: members, parameters } = input;
  const population = {
    members,
    parameters,
    // The rows are shared without copying, since they are only read.
    read: async (first: number, count: number) => genomes.subarray(first * parameters, (first + count) * parameters),
    write: () => Promise.reject(new Error("nothing is emitted here")),
  };
  const play = async () => {
    const archive = openHostArchive(population, gridOf(input));
    const startedMs = performance.now();
    for (const { fitness, measures } of offers) await archive.add(fitness, measures);
    return { archive, seconds: (performance.now() - startedMs) / 1e3 };
  };
  const output = await readOutput(input, (await play()).archive);
  return {
    opened: { output, adapter: null },
    measure: async () => ({ inserts: (input.batch * input.batches) / (await play()).seconds }),
    close: async () => undefined,
  };
};
