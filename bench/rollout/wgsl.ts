import { environmentNamed } from "../../kernels/environments/registry.ts";
import { openGpuPopulation } from "../../src/gpu-runner/rollout/gpu/open-gpu-population.ts";
import type { Contender } from "../contest.ts";
import { openOwnGpu } from "../own-gpu.ts";
import { enterPopulation } from "./own.ts";
import { networkOf, type RolloutCase } from "./rollout-case.ts";

/** The product's population on the adapter. */
export const contender: Contender<RolloutCase> = async (input) => {
  const environment = environmentNamed(input.environment);
  const own = await openOwnGpu();
  const population = await openGpuPopulation(own, {
    environment,
    network: networkOf(environment),
    members: input.members,
  });
  const entry = await enterPopulation(population, input, { adapter: null });
  // Unreferenced objects are collected, the driver too.
  const close = async () => {
    await entry.close();
    own.device.destroy();
  };
  return { ...entry, close };
};
