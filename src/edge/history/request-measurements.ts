import type { Fingerprint } from "../../protocol/fleet/hardware.ts";
import { DEFAULT_CONFIGURATION, type ServingConfiguration } from "../../protocol/fleet/serving.ts";
import { calibratedLevel } from "../../protocol/history/prediction-calibration.ts";
import type { SeriesKey } from "../../protocol/history/series.ts";
import type { LatencySplit, ServiceTimes } from "../../protocol/inference/inference.ts";
import type { Clock } from "../../protocol/wire/distribution.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { ProblemCode } from "../../protocol/wire/problem.ts";
import { type Aggregate, summarise } from "../../stats/distribution/distribution.ts";

/** Configuration of threads for a series: empty while a placement has the default. */
export function threadsOf({ threads }: Pick<ServingConfiguration, "threads"> = DEFAULT_CONFIGURATION): {
  threads?: number;
} {
  return threads === DEFAULT_CONFIGURATION.threads ? {} : { threads };
}

/**
 * One attempt at an admitted request, as a Worker saw it, or a runner for a ticket's request. `split` is null without
 * an answer, and for answers from the edge or a stand-in device.
 */
export interface RequestOutcome {
  /** Project of the request. */
  readonly project: string;
  readonly subject: string;
  readonly variant: string;
  readonly backend: string;
  readonly batch: number;
  /** Serving configuration of its placement; absent: the default. */
  readonly configuration?: Pick<ServingConfiguration, "threads">;
  readonly software: boolean;
  readonly fingerprint: Fingerprint;
  readonly totalMs: number;
  /** Rows of the answered request; null where this attempt got no answer. */
  readonly rows: number | null;
  /** Clock of the runner, where the request bypassed the edge; absent: the edge's. */
  readonly totalClock?: Clock;
  /** Parts of the latency as far as they are known; a direct request has no time in edge and link. */
  readonly split: (ServiceTimes & Partial<LatencySplit>) | null;
  /**
   * Outcome of the prediction at admission. Null for best effort, for direct requests, and at the edge, whose clock
   * does not advance while it computes.
   */
  readonly forecast: Forecast | null;
}

interface Forecast {
  readonly placementId: string;
  readonly confidence: number;
  /** True if the answer came within the budget, and if within the predicted latency. */
  readonly inTime: boolean;
  readonly asPredicted: boolean;
}

/** A request that ended without an answer, with the problem that its caller received. */
export interface RefusedRequest {
  readonly project: string;
  readonly subject: string;
  readonly refusedFor: ProblemCode;
}

/** Clock of each metric: the Worker's for its own observations, the runner's for events there. */
const CLOCKS = {
  totalMs: "edge-wall",
  lostMs: "edge-wall",
  edgeMs: "edge-wall",
  linkMs: "edge-wall",
  queueMs: "runner-wall",
  uploadMs: "runner-wall",
  computeMs: "runner-wall",
  readbackMs: "runner-wall",
} as const satisfies Record<string, Clock>;
type Metric = keyof typeof CLOCKS;
const PARTS = ["edgeMs", "linkMs", "queueMs", "uploadMs", "computeMs", "readbackMs"] as const;

/** Measurement that a batch of outcomes adds to one series. */
export interface RequestMeasurement {
  readonly project: string;
  readonly key: SeriesKey;
  readonly aggregate: Aggregate;
}

/**
 * One aggregate for each series over a batch of outcomes. `totalMs` counts every attempt, including missed deadlines:
 * without them the tail would look too good. `rows` counts answered rows, and `lostMs` is the total of the others.
 * `executions` counts batches: a request of r rows in a batch of b has r/b of one.
 */
export function measureOutcomes(outcomes: readonly (RequestOutcome | RefusedRequest)[]): RequestMeasurement[] {
  const samples = new Map<string, { project: string; key: SeriesKey; values: number[] }>();
  // Most outcomes of a batch are of the same series, whose keys are made once.
  const nameGroup = createGroupNames();
  for (const outcome of outcomes) {
    const { project } = outcome;
    const group = nameGroup(outcome);
    const add = (metric: string, toKey: () => SeriesKey, value: number) => {
      const name = `${group} ${metric}`;
      const known = samples.get(name);
      if (known === undefined) samples.set(name, { project, key: toKey(), values: [value] });
      else known.values.push(value);
    };
    if ("refusedFor" in outcome) {
      add(`refused.${outcome.refusedFor}`, () => refusalKey(outcome), 1);
      continue;
    }
    const { totalMs, rows, batch, split, forecast } = outcome;
    add("totalMs", () => keyOf(outcome, "totalMs"), totalMs);
    if (rows === null) add("lostMs", () => keyOf(outcome, "lostMs"), totalMs);
    else {
      add("rows", () => ({ ...keyOf(outcome, "totalMs"), ...ROWS }), rows);
      add("executions", () => ({ ...keyOf(outcome, "totalMs"), ...EXECUTIONS }), rows / Math.max(rows, batch));
    }
    for (const part of PARTS) {
      const value = split?.[part];
      if (value !== undefined) add(part, () => keyOf(outcome, part), value);
    }
    if (forecast === null) continue;
    for (const metric of FORECAST_METRICS) {
      const of = `${metric} ${forecast.placementId} ${calibratedLevel(forecast.confidence)}`;
      add(of, () => forecastKey(outcome, forecast, metric), Number(forecast[metric]));
    }
  }
  return [...samples.values()].map(({ project, key, values }) => {
    const { count, min, max, sum, sketch } = summarise(values);
    return { project, key, aggregate: { count, min, max, sum, sketch } };
  });
}

/** Names the series that an outcome belongs to, but for their metrics. */
function createGroupNames(): (outcome: RequestOutcome | RefusedRequest) => string {
  const fingerprints = new Map<Fingerprint, string>();
  return (outcome) => {
    const { project, subject } = outcome;
    if ("refusedFor" in outcome) return JSON.stringify([project, subject]);
    const { variant, backend, batch, configuration, software, fingerprint, totalClock } = outcome;
    const told = fingerprints.get(fingerprint) ?? JSON.stringify(fingerprint);
    fingerprints.set(fingerprint, told);
    const { threads } = threadsOf(configuration);
    return JSON.stringify([project, subject, variant, backend, floorBatch(batch), threads, software, totalClock, told]);
  };
}

const ROWS = { metric: "rows", unit: "rows", clock: null, direction: "higher" } as const;
const EXECUTIONS = { metric: "executions", unit: "executions", clock: null, direction: "lower" } as const;

function keyOf(outcome: RequestOutcome, metric: Metric): SeriesKey {
  const { subject, variant, backend, batch, configuration, fingerprint, software } = outcome;
  return {
    subjectKind: "model",
    subject,
    metric,
    unit: "ms",
    clock: metric === "totalMs" || metric === "lostMs" ? (outcome.totalClock ?? CLOCKS[metric]) : CLOCKS[metric],
    direction: "lower",
    configuration: { variant, backend, batch: floorBatch(batch), ...threadsOf(configuration) },
    fingerprint,
    software,
    label: null,
  };
}

/**
 * Rounds down to a power of two, at most that of calibrations: each row count of a caller would be a series of its own.
 */
function floorBatch(rows: number): number {
  return Math.min(LIMITS.batchRows, 2 ** Math.floor(Math.log2(rows)));
}

/** Metrics of predictions; the mean of each is a share of the requests. */
const FORECAST_METRICS = ["inTime", "asPredicted"] as const satisfies readonly (keyof Forecast)[];

function forecastKey(outcome: RequestOutcome, forecast: Forecast, metric: string): SeriesKey {
  const { variant, backend } = outcome;
  const { placementId: placement, confidence } = forecast;
  return {
    ...keyOf(outcome, "totalMs"),
    metric,
    unit: "share",
    direction: "higher",
    configuration: { placement, variant, backend, confidence: calibratedLevel(confidence) },
  };
}

function refusalKey({ subject, refusedFor }: RefusedRequest): SeriesKey {
  return {
    subjectKind: "model",
    subject,
    metric: `refused.${refusedFor}`,
    unit: "requests",
    clock: null,
    direction: "lower",
    configuration: {},
    fingerprint: null,
    software: false,
    label: null,
  };
}
