import { preparePopulation } from "../../src/gpu-runner/cpu-simd/prepare-population.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { inputsOf } from "../kernel-contest/kernel-case.ts";
import { countForwards, type PopulationCase } from "./population-case.ts";

/** The product's AssemblyScript twin of the kernel, on all cores where that pays; parameters lie in its memory. */
export const contender: Contender<PopulationCase> = async (input) => {
  const { input: observations, ...parameters } = inputsOf(input);
  const population = await preparePopulation(input.shape, { input: observations!, ...parameters });
  const step = async () => {
    population.upload({ input: observations! });
    await population.run();
    return population.read();
  };
  const note = `${population.threads} threads`;
  return countForwards(await createBatchEntry(step, input.runs, { adapter: null, note }), input);
};
