import { openPopulation } from "../../src/gpu-runner/devices/cpu-simd/open-population.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { inputsOf } from "../kernel-at-shape.ts";
import { FRESH_INPUT } from "../kernel-contest/kernel-case.ts";
import { countForwards, type PopulationCase } from "./population-case.ts";

/** The product's AssemblyScript twin of the kernel, on all cores where that pays; parameters are in its memory. */
export const contender: Contender<PopulationCase> = async (input) => {
  const arrays = inputsOf(input);
  const population = await openPopulation(input.shape);
  population.upload(arrays);
  const fresh = { [FRESH_INPUT]: arrays[FRESH_INPUT]! };
  const step = async () => {
    population.upload(fresh);
    await population.run();
    return population.read();
  };
  const note = `${population.threads} threads`;
  return countForwards(await createBatchEntry(step, 1, { adapter: null, note }), input);
};
