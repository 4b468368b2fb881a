import { orderMembers } from "./rank-fitness.ts";
import { openSeparableSearch } from "./separable-search.ts";
import { startPolicy } from "./start-policy.ts";
import type { OpenStrategy } from "./strategy.ts";

/** CMA-ES with a diagonal covariance, as by Ros and Hansen; of equal members the first counts as the better. */
export const openSepCmaEs: OpenStrategy<{ name: "sep-cma-es"; population: number; sigma: number }> = async ({
  algorithm,
  environment,
  network,
  population,
  seed,
  saved,
}) => {
  const { sigma } = algorithm;
  const mean = startPolicy(network, environment, seed);
  const search = openSeparableSearch({ population, seed, sigma, mean, saved });
  return {
    ask: (generation) => search.ask(generation),
    tell: ({ generation, fitness }) =>
      search.tell(generation, orderMembers(fitness).subarray(0, Math.floor(population.members / 2))),
    policy: async () => Float32Array.from(search.save()["mean"]!),
    save: async () => search.save(),
  };
};
