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
 * CMA-ME with one improvement emitter: a distribution that moves towards members added to the archive, and restarts at
 * a random elite where none was. With a learning rate below 1 it is CMA-MAE, which moves towards the better half and
 * restarts where its distribution is exhausted. Throws `invalid-request` for a full covariance with too many
 * parameters.
 * Source: Fontaine et al., GECCO 2020 (CMA-ME); Fontaine and Nikolaidis, GECCO 2023 (CMA-MAE).
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
  // Given elites are the start.
  let waits = saved === null && search.archive.filled > 0;

  /** Restarts at a random elite, which is copied to the first member temporarily. */
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
    async tell(results) {
      const additions = await search.tell(results);
      const parents = rankAdditions(additions, anneals);
      if (parents.length > 0) await distribution.tell(results.generation, parents);
      if ((parents.length > 0 && !distribution.isSpent()) || search.archive.filled === 0) return;
      restarts++;
      await restart(results.generation);
    },
    policy: () => search.policy(),
    async save() {
      const own = Object.entries(distribution.save()).map(([name, array]) => [SEARCH_PREFIX + name, array]);
      return { ...(await search.save()), ...Object.fromEntries(own), restarts: Float64Array.of(restarts) };
    },
    leave: () => search.leave(),
    describeArchive: async () => ({ archive: await search.summarise(), covariance, restarts }),
    release: () => search.release(),
  };
};

/** Saved state of the distribution. */
function pick(saved: StrategyState): StrategyState {
  const own = Object.entries(saved).filter(([name]) => name.startsWith(SEARCH_PREFIX));
  return Object.fromEntries(own.map(([name, array]) => [name.slice(SEARCH_PREFIX.length), array]));
}

/**
 * MAP-Elites: every member is a child of random elites, and is added where it is better.
 * Source: Mouret and Clune 2015.
 */
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
    tell: async (results) => void (await search.tell(results)),
    policy: () => search.policy(),
    save: () => search.save(),
    leave: () => search.leave(),
    describeArchive: async () => ({ archive: await search.summarise(), covariance: null, restarts: 0 }),
    release: () => search.release(),
  };
};
