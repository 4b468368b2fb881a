import type { Clock, Distribution } from "../../protocol/wire/distribution.ts";
import type { SeriesKey } from "../../protocol/history/series.ts";
import { toShapeText } from "../../protocol/kernels/leaderboard.ts";
import type { BenchmarkResult } from "../../protocol/jobs/benchmark.ts";
import type { ThroughputResult } from "../../protocol/jobs/throughput.ts";
import type { CalibratedPlacement, CalibrationResult } from "../../protocol/jobs/calibration.ts";
import type { TuningResult } from "../../protocol/jobs/tuning.ts";
import { type Aggregate, summarise } from "../../stats/distribution/distribution.ts";
import type { Measurement } from "../store/history/point-store.ts";
import { threadsOf } from "../history/request-measurements.ts";

export interface RunContext {
  readonly project: string;
  readonly runId: string;
  readonly atMs: number;
  readonly label: string | null;
}

export function toAggregate({ count, min, max, sum, sketch }: Distribution): Aggregate {
  return { count, min, max, sum, sketch };
}

export function single(value: number): Aggregate {
  return toAggregate(summarise([value]));
}

/** Makes the points of one run of a kernel; `further` is configuration beyond shape, type and device. */
function pointsOf(
  { kernel, shape, dtype, environment }: Pick<BenchmarkResult, "kernel" | "shape" | "dtype" | "environment">,
  run: RunContext,
  further: SeriesKey["configuration"] = {},
) {
  const base = {
    subjectKind: "kernel",
    subject: kernel,
    configuration: { ...shape, dtype, device: environment.deviceName, ...further },
    fingerprint: environment.fingerprint,
    software: environment.software,
    label: run.label,
  } as const;
  return (
    metric: string,
    unit: string,
    clock: Clock | null,
    direction: SeriesKey["direction"],
    aggregate: Aggregate,
  ): Measurement => ({
    project: run.project,
    key: { ...base, metric, unit, clock, direction },
    atMs: run.atMs,
    sourceId: run.runId,
    runId: run.runId,
    aggregate,
  });
}

/**
 * What a benchmark leaves in the history: its durations by clock, and its rates. One that was spread is a
 * series of its own; a reference that stood in for a device leaves nothing.
 */
export function measureBenchmark(result: BenchmarkResult, run: RunContext): Measurement[] {
  if (result.fallback !== undefined) return [];
  const point = pointsOf(result, run, {
    variant: result.variant,
    // Absent for what a variant is by itself, so that its series goes on.
    ...(result.defaultAxes ? {} : { axes: toShapeText(result.axes) }),
    ...(result.tuned ? { tuned: "true" } : {}),
    ...(result.parts === undefined ? {} : { devices: result.parts.length }),
  });
  const share = result.roofline?.shareOfRoof;
  return [
    point("wallMs", "ms", "runner-wall", "lower", toAggregate(result.wallMs)),
    ...(result.gpuMs === null ? [] : [point("gpuMs", "ms", "gpu-timestamp", "lower", toAggregate(result.gpuMs))]),
    ...(result.gflops === null ? [] : [point("gflops", "GFLOP/s", result.clock, "higher", single(result.gflops))]),
    point("gigabytesPerSecond", "GB/s", result.clock, "higher", single(result.gigabytesPerSecond)),
    ...(typeof share === "number" ? [point("shareOfRoof", "share", result.clock, "higher", single(share))] : []),
  ];
}

/** What a throughput job leaves: rates, busy share and latency, by the depth that the controller found. */
export function measureThroughput(result: ThroughputResult, run: RunContext): Measurement[] {
  const point = pointsOf(result, run, { variant: result.variant, depth: result.setting.depth });
  return [
    point("itemsPerSecond", "1/s", "runner-wall", "higher", single(result.itemsPerSecond)),
    point("busyShare", "share", result.clock, "higher", single(result.busyShare)),
    point("submissionMs", "ms", "runner-wall", "lower", toAggregate(result.latencyMs)),
  ];
}

/** What a search leaves in the history: the runs of the best choice, whichever that is. A known answer is no new point. */
export function measureTuning({ tuning, cached, environment }: TuningResult, run: RunContext): Measurement[] {
  if (cached) return [];
  const point = pointsOf({ ...tuning, environment }, run);
  return [point("tunedMs", "ms", tuning.clock, "lower", toAggregate(tuning.best.ms))];
}

/** What a calibration leaves in the history: service and link of every placement it measured. */
export function measureCalibration(result: CalibrationResult, subject: string, run: RunContext): Measurement[] {
  return result.placements.flatMap((placement) => [
    ...placement.sweep.map(({ rows, serviceMs }) => calibrated("serviceMs", serviceMs, placement, rows, subject, run)),
    calibrated("linkMs", placement.linkMs ?? result.linkMs, placement, 1, subject, run),
  ]);
}

function calibrated(
  metric: string,
  distribution: Distribution,
  { variant, backend, environment, configuration }: CalibratedPlacement,
  batch: number,
  subject: string,
  run: RunContext,
): Measurement {
  return {
    project: run.project,
    key: {
      subjectKind: "model",
      subject,
      metric,
      unit: "ms",
      clock: "runner-wall",
      direction: "lower",
      configuration: { variant, backend, batch, ...threadsOf(configuration) },
      fingerprint: environment.fingerprint,
      software: environment.software,
      label: run.label,
    },
    atMs: run.atMs,
    sourceId: run.runId,
    runId: run.runId,
    aggregate: toAggregate(distribution),
  };
}
