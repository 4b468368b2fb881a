import { LIMITS } from "../../protocol/limits.ts";
import type { Candidate, OptimisationSpec } from "../../protocol/optimisation.ts";

type Standing = NonNullable<OptimisationSpec["standing"]>;

/**
 * What a placement is served as now, as a candidate, under the load of the space that flatters it most: callers decide
 * on that load, not the configuration. For throughput that is all that may be in flight, for latency the least.
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

/** Where a candidate stands in a list; -1 where it does not. */
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
