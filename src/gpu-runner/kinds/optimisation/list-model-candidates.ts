import type { Candidate, OptimisationSpec, SearchSpace } from "../../../protocol/jobs/optimisation.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";

/** Resources of a runner for serving a model. */
export interface ModelSurroundings {
  /** Devices that serve models, with the backend of each. */
  readonly devices: readonly Pick<Candidate, "deviceKey" | "backend">[];
  readonly variants: readonly string[];
  readonly logicalCores: number;
  /** Whether requests may share a batch. */
  readonly hasRows: boolean;
}

/** Most requests in flight unless the space names others: more would only wait longer for the same device. */
const MOST_CONCURRENCY = 64;

/**
 * Every configuration of a space.
 * CPU provider threads are powers of two up to the logical cores; other backends have one.
 * Batches are no larger than the requests in flight, since larger ones would never fill.
 */
export function listModelCandidates(space: SearchSpace, surroundings: ModelSurroundings): Candidate[] {
  const { devices, variants, logicalCores, hasRows } = surroundings;
  const threads = space.threads ?? powersOfTwo(Math.min(logicalCores, LIMITS.intraOpThreads));
  const wantedRows = space.maxRows ?? powersOfTwo(LIMITS.batchRows);
  const concurrencies = space.concurrency ?? powersOfTwo(MOST_CONCURRENCY);
  const loads = concurrencies.flatMap((concurrency) => {
    const rows = hasRows ? wantedRows.map((each) => Math.min(each, concurrency)) : [1];
    return [...new Set(rows)].map((maxRows) => ({ maxRows, concurrency }));
  });
  return devices
    .filter(({ deviceKey, backend }) => allows(space.deviceKeys, deviceKey) && allows(space.backends, backend))
    .flatMap(({ deviceKey, backend }) =>
      variants
        .filter((variant) => allows(space.variants, variant))
        .flatMap((variant) =>
          (backend === "ort-cpu" ? threads : [1]).flatMap((each) =>
            loads.map((load) => ({ deviceKey, backend, variant, threads: each, ...load })),
          ),
        ),
    );
}

export function allows<Value>(wanted: readonly Value[] | undefined, value: Value): boolean {
  return wanted === undefined || wanted.includes(value);
}

/** Powers of two from 1 up to a maximum. */
export function powersOfTwo(most: number): number[] {
  return Array.from({ length: Math.floor(Math.log2(most)) + 1 }, (_, power) => 2 ** power);
}

type Standing = NonNullable<OptimisationSpec["standing"]>;

/**
 * The current configuration of a placement as a candidate, under the most flattering load of the space.
 * For throughput that is the most in flight, for latency the least: callers decide on the load, not the configuration.
 */
export function listStanding(
  { deviceKey, backend, variant, configuration }: Standing,
  { objective, space }: Pick<OptimisationSpec, "objective" | "space">,
  candidates: readonly Candidate[],
  hasRows: boolean,
): Candidate {
  const loads = [...(space.concurrency ?? []), ...candidates.map(({ concurrency }) => concurrency)];
  const load = objective === "throughput" ? Math.max(1, ...loads) : Math.min(...loads, LIMITS.deviceQueueRequests);
  const concurrency = Math.min(load, configuration.maxInFlight ?? load);
  const maxRows = hasRows ? Math.min(configuration.maxRows ?? LIMITS.batchRows, concurrency) : 1;
  const threads = backend === "ort-cpu" ? configuration.threads : 1;
  return { deviceKey, backend, variant, threads, maxRows, concurrency };
}

/** Index of a candidate in a list; -1 where it is absent. */
export function findCandidate(candidates: readonly Candidate[], wanted: Candidate): number {
  return candidates.findIndex(
    (each) =>
      each.deviceKey === wanted.deviceKey &&
      each.backend === wanted.backend &&
      each.variant === wanted.variant &&
      each.threads === wanted.threads &&
      each.maxRows === wanted.maxRows &&
      each.concurrency === wanted.concurrency,
  );
}
