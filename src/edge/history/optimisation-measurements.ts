import type { OptimisationResult, OptimisationTargets } from "../../protocol/optimisation.ts";
import type { SeriesKey } from "../../protocol/series.ts";
import type { Measurement } from "../store/point-store.ts";
import { type RunContext, single } from "./result-measurements.ts";

/**
 * What a search leaves in the history: throughput and latency of the best that it found, whichever that is, by what
 * it was to reach. `subject` is the kernel, or the model with its version. Nothing where it found none.
 */
export function measureOptimisation(
  { subject: asked, objective, targets, trials, best, environment }: OptimisationResult,
  subject: string,
  run: RunContext,
): Measurement[] {
  const trial = best === null ? undefined : trials[best];
  if (trial === undefined) return [];
  const { throughputPerS, latencyMs } = trial;
  const key: Omit<SeriesKey, "metric" | "unit" | "direction"> = {
    subjectKind: asked.kind,
    subject,
    clock: "runner-wall",
    configuration: {
      ...(asked.kind === "kernel" ? asked.shape : {}),
      device: environment.deviceName,
      objective,
      ...describeTargets(targets),
    },
    fingerprint: environment.fingerprint,
    software: environment.software,
    label: run.label,
  };
  const point = (metric: string, unit: string, direction: SeriesKey["direction"], value: number | null) =>
    value === null
      ? []
      : [
          {
            key: { ...key, metric, unit, direction },
            project: run.project,
            atMs: run.atMs,
            sourceId: run.runId,
            runId: run.runId,
            aggregate: single(value),
          },
        ];
  return [
    ...point("optimisedPerS", "1/s", "higher", throughputPerS),
    ...point("optimisedMs", "ms", "lower", latencyMs),
  ];
}

/** Only those that there are: what is wanted changes what the best means. */
function describeTargets({ latencyMs, ...others }: OptimisationTargets): SeriesKey["configuration"] {
  const named = { ...others, boundMs: latencyMs };
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
