import { environmentNamed } from "../../kernels/environments/registry.ts";
import { openCpuPopulation } from "../../src/gpu-runner/rollout/cpu/open-cpu-population.ts";
import type { Contender } from "../contest.ts";
import { enterPopulation } from "./own.ts";
import { networkOf, type RolloutCase } from "./rollout-case.ts";

/** The product's population on the processor, on all its cores. */
export const contender: Contender<RolloutCase> = async (input) => {
  const environment = environmentNamed(input.environment);
  const population = await openCpuPopulation({ environment, network: networkOf(environment), members: input.members });
  return enterPopulation(population, input, { adapter: null });
};
