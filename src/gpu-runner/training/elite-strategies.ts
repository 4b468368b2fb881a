import type { CmaMe, MapElites } from "../../protocol/jobs/training.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { rankAdditions } from "../rollout/archive.ts";
import { openEliteSearch } from "./elite-search.ts";
import { openFullSearch } from "./full-search.ts";
import { openSeparableSearch } from "./sep-cma-es.ts";
import { boundsOf, startMean, startMembers, UNBOUNDED } from "./start-policy.ts";
import { type OpenStrategy, readVector, type StrategyState } from "./strategy.ts";

const SEARCH_PREFIX = "search.";

/**
 * CMA-ME (Fontaine et al., GECCO 2020) with one improvement emitter: a distribution that moves towards those who got into
 * the archive, and begins anew at a random elite where nobody did. With a learning rate below 1 it is CMA-MAE (Fontaine
 * and Nikolaidis, GECCO 2023), which moves towards the better half and begins anew where its distribution is spent.
 * Throws `invalid-request` where a full covariance is asked for and there are too many parameters.
 */
export const openCmaMe: OpenStrategy<CmaMe> = async (context) => {
  const { algorithm, population, seed, saved } = context;
  const { parameters } = population;
  const most = LIMITS.fullCovarianceParameters;
  if (algorithm.covariance === "full" && parameters > most) {
    const message = `a full one is for at most ${most} parameters, and here are ${parameters}`;
    throw new ProblemError("invalid-request", `The covariance cannot be full: ${message}.`, {
      errors: [{ pointer: "#/algorithm/covariance", message }],
    });
  }
  const covariance = algorithm.covariance ?? (parameters <= most ? "full" : "separable");
  const search = await openEliteSearch(context);
  const distribution = (covariance === "full" ? openFullSearch : openSeparableSearch)({
    population,
    seed,
    sigma: algorithm.sigma,
    mean: startMean(context),
    saved: saved && pick(saved),
  });
  const anneals = algorithm.learningRate < 1;
  let restarts = saved === null ? 0 : readVector(saved, "restarts", 1)[0]!;
  // Elites that were given are what to begin from.
  let waits = saved === null && search.archive.filled > 0;

  /** Begins at a random elite, whose copy is the first member for a moment. */
  async function restart(generation: number): Promise<void> {
    await search.archive.emit({ seed, generation, sigma: 0, lineSigma: 0, ...UNBOUNDED });
    distribution.restart(Float64Array.from(await population.read(0, 1)));
  }

  return {
    async ask(generation) {
      if (waits) await restart(generation);
      waits = false;
      await distribution.ask(generation);
    },
    async tell(told) {
      const additions = await search.tell(told);
      const parents = rankAdditions(additions, anneals);
      if (parents.length > 0) await distribution.tell(told.generation, parents);
      if ((parents.length > 0 && !distribution.isSpent()) || search.archive.filled === 0) return;
      restarts++;
      await restart(told.generation);
    },
    policy: () => search.policy(),
    async save() {
      const own = Object.entries(distribution.save()).map(([name, array]) => [SEARCH_PREFIX + name, array]);
      return { ...(await search.save()), ...Object.fromEntries(own), restarts: Float64Array.of(restarts) };
    },
    leave: () => search.leave(),
    tellArchive: async () => ({ archive: await search.summarise(), covariance, restarts }),
    release: () => search.release(),
  };
};

/** What the distribution saved. */
function pick(saved: StrategyState): StrategyState {
  const own = Object.entries(saved).filter(([name]) => name.startsWith(SEARCH_PREFIX));
  return Object.fromEntries(own.map(([name, array]) => [name.slice(SEARCH_PREFIX.length), array]));
}

/** MAP-Elites (Mouret and Clune 2015): every member is a child of random elites, and gets in where it is better. */
export const openMapElites: OpenStrategy<MapElites> = async (context) => {
  const { algorithm, seed } = context;
  const { operator, sigma, lineSigma } = algorithm;
  const search = await openEliteSearch(context);
  const steps = { sigma, lineSigma: operator === "iso-line" ? lineSigma : 0, ...boundsOf(context) };
  return {
    async ask(generation) {
      if (search.archive.filled === 0) await startMembers(context, generation);
      else await search.archive.emit({ seed, generation, ...steps });
    },
    tell: async (told) => void (await search.tell(told)),
    policy: () => search.policy(),
    save: () => search.save(),
    leave: () => search.leave(),
    tellArchive: async () => ({ archive: await search.summarise(), covariance: null, restarts: 0 }),
    release: () => search.release(),
  };
};
