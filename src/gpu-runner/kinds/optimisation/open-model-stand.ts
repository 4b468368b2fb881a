import { availableParallelism } from "node:os";
import type { PlacedModel } from "../../../protocol/link.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { modelBackendOf } from "../../../protocol/fleet/hardware.ts";
import type { Candidate, OptimisationSpec } from "../../../protocol/jobs/optimisation.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { ServingConfiguration } from "../../../protocol/fleet/serving.ts";
import { nearestRank } from "../../../stats/distribution/summary.ts";
import { hasRows } from "../../serving/queue/join-tensors.ts";
import { type OpenLoadClock, openLoadClock } from "../validation/open-load-clock.ts";
import { openModelSystem } from "../validation/open-model-system.ts";
import { type ClosedLoopRun, runClosedLoop } from "../validation/run-closed-loop.ts";
import type { WorkloadContext } from "../kind.ts";
import { findCandidate, listModelCandidates, listStanding } from "./list-model-candidates.ts";
import { measureArithmetic, measureGrowth } from "./measure-candidates.ts";
import type { TrialMeasurement, TrialStand } from "./search-problem.ts";

export type ModelSearch = Pick<
  OptimisationSpec,
  "space" | "objective" | "targets" | "standing" | "fidelities" | "seed"
>;

type ModelContext = Pick<WorkloadContext, "fleet" | "models" | "residency" | "signal">;

/** Share of a measurement spent before it, in which the queue learns the durations of batches. */
const WARM_UP_SHARE = 1 / 4;
/** Factor by which the trial of a slow candidate may be extended to reach its number of queries. */
const PATIENCE = 4;
/** Least number of queries of each caller. */
const QUERIES_EACH = 3;

/**
 * Candidate configurations for serving a model on a runner.
 * A candidate is opened as for requests, compared with the CPU provider, loaded in a closed loop for about `trialMs`,
 * then unloaded.
 * Memory and fidelity are measured once per variant, device and number of threads.
 */
export async function openModelStand(
  search: ModelSearch,
  model: PlacedModel,
  trialMs: number,
  context: ModelContext,
): Promise<TrialStand> {
  const { fleet, signal } = context;
  const { standing } = search;
  const rows = hasRows(model);
  const space = listModelCandidates(search.space, {
    devices: fleet.all().flatMap(({ host: { device } }) => {
      const backend = modelBackendOf(device);
      return backend === undefined ? [] : [{ deviceKey: device.key, backend }];
    }),
    variants: model.variants.map(({ name }) => name),
    logicalCores: availableParallelism(),
    hasRows: rows,
  });
  const now = standing === undefined ? null : listStanding(standing, search, space, rows);
  const isListed = now === null || findCandidate(space, now) >= 0;
  const candidates = isListed ? space : [...space, now];
  const standingIndex = now === null ? null : findCandidate(candidates, now);
  const clock = await openLoadClock();
  const growth = measureGrowth(model, candidates, search.seed, context);
  const fidelityOf = measureArithmetic(model, search.fidelities ?? {}, context);

  const measure = async (index: number): Promise<TrialMeasurement> => {
    signal.throwIfAborted();
    const candidate = candidates[index]!;
    const configuration = index === standingIndex ? standing!.configuration : configurationOf(candidate);
    const fidelity = await fidelityOf(candidate);
    const memoryBytes = await growth(candidate);
    const run = await loadCandidate({ candidate, configuration, model, seed: search.seed, trialMs, clock }, context);
    return { ...summarise(run, search.targets.percentile), memoryBytes, fidelity };
  };
  return {
    candidates,
    standing: standingIndex,
    eligible: space.length,
    inFlight: ({ concurrency }) => concurrency,
    measure,
    close: () => clock.close(),
  };
}

/** Serving configuration of a candidate. The queue refuses late requests, so nothing else caps those in flight. */
export function configurationOf({ threads, maxRows }: Candidate): ServingConfiguration {
  return { threads, maxRows, maxInFlight: null };
}

interface Trial {
  readonly candidate: Candidate;
  readonly configuration: ServingConfiguration;
  readonly model: PlacedModel;
  readonly seed: number;
  readonly trialMs: number;
  readonly clock: OpenLoadClock;
}

async function loadCandidate(
  { candidate, configuration, model, seed, trialMs, clock }: Trial,
  { fleet, models, residency, signal }: ModelContext,
): Promise<ClosedLoopRun> {
  const { deviceKey, variant, concurrency } = candidate;
  const place = { device: fleet.find(deviceKey), model, variant, configuration };
  // Without a limit of rows, there is no batch size to compare beforehand.
  const largestQuery = configuration.maxRows ?? 1;
  const quiet = { fleet, models, residency, signal, onProgress: () => {} };
  const opened = await openModelSystem(place, { seed, largestQuery }, quiet);
  try {
    const system = opened.within(LIMITS.maxBudgetMs);
    const shared = { clock, signal, onProgress: () => {}, concurrency, samplesPerQuery: 1 };
    const runFor = (ms: number, minQueries: number) =>
      runClosedLoop(system, { ...shared, minDurationMs: ms, minQueries, deadlineMs: clock.now() + PATIENCE * ms });
    await runFor(trialMs * WARM_UP_SHARE, concurrency);
    return await runFor(trialMs, QUERIES_EACH * concurrency);
  } finally {
    await opened.close();
  }
}

function summarise(
  { latenciesMs, queries, samplesPerS, errorCodes }: ClosedLoopRun,
  percentile: number,
): Omit<TrialMeasurement, "memoryBytes" | "fidelity"> {
  const sorted = latenciesMs.toSorted();
  const [p50Ms, latencyMs] = [nearestRank(sorted, 0.5), nearestRank(sorted, percentile)];
  if (!Number.isFinite(latencyMs) || samplesPerS === 0) {
    const codes = Object.keys(errorCodes).join(", ") || "none was answered in time";
    throw new ProblemError("backend-failed", `Too many of ${queries} queries had no answer: ${codes}.`);
  }
  return { throughputPerS: samplesPerS, p50Ms, latencyMs, queries };
}
