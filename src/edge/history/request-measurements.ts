import type { Fingerprint } from "../../protocol/fleet/hardware.ts";
import { DEFAULT_CONFIGURATION, type ServingConfiguration } from "../../protocol/fleet/serving.ts";
import { calibratedLevel } from "../../protocol/history/prediction-calibration.ts";
import type { SeriesKey } from "../../protocol/history/series.ts";
import type { LatencySplit, ServiceTimes } from "../../protocol/inference/inference.ts";
import type { Clock } from "../../protocol/wire/distribution.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { ProblemCode } from "../../protocol/wire/problem.ts";
import { type Aggregate, summarise } from "../../stats/distribution/distribution.ts";

/** What a series says of threads: nothing as long as they are what every placement begins with. */
export function threadsOf({ threads }: Pick<ServingConfiguration, "threads"> = DEFAULT_CONFIGURATION): {
  threads?: number;
} {
  return threads === DEFAULT_CONFIGURATION.threads ? {} : { threads };
}

/**
 * What a Worker saw of one attempt at an admitted request, or a runner of one that a ticket brought. Attempts
 * that got no answer have no split, and those that the edge or a device that stood in answered have none either.
 */
export interface RequestOutcome {
  /** Whose request it was. */
  readonly project: string;
  readonly subject: string;
  readonly variant: string;
  readonly backend: string;
  readonly batch: number;
  /** How its placement is served; absent: as every one begins. */
  readonly configuration?: Pick<ServingConfiguration, "threads">;
  readonly software: boolean;
  readonly fingerprint: Fingerprint;
  readonly totalMs: number;
  /** Rows of the request that were answered; null where no answer came of this attempt. */
  readonly rows: number | null;
  /** The runner's, where the request did not go through the edge; absent: the edge's. */
  readonly totalClock?: Clock;
  /** Where the time went, as far as it is known: a direct request has no part in edge and link. */
  readonly split: (ServiceTimes & Partial<LatencySplit>) | null;
  /**
   * What became of the prediction that it was admitted by; null for a best effort, for direct requests, and at the
   * edge, whose clock stands still while it computes.
   */
  readonly forecast: Forecast | null;
}

interface Forecast {
  readonly placementId: string;
  readonly confidence: number;
  /** Whether the answer came within the budget, and whether within the predicted latency. */
  readonly inTime: boolean;
  readonly asPredicted: boolean;
}

/** A request that ended without an answer, by the problem that its caller got. */
export interface RefusedRequest {
  readonly project: string;
  readonly subject: string;
  readonly refusedFor: ProblemCode;
}

/** The clock of each metric: the Worker's own for what it sees, the runner's for what happens there. */
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

/** What a batch of outcomes leaves in one series. */
export interface RequestMeasurement {
  readonly project: string;
  readonly key: SeriesKey;
  readonly aggregate: Aggregate;
}

/**
 * One aggregate a series over a batch of outcomes. `totalMs` counts every attempt, those that missed
 * their deadline too: leaving them out would flatter the tail. `rows` counts those that were answered, and
 * `lostMs` is the total of the others.
 */
export function measureOutcomes(outcomes: readonly (RequestOutcome | RefusedRequest)[]): RequestMeasurement[] {
  const samples = new Map<string, { project: string; key: SeriesKey; values: number[] }>();
  for (const outcome of outcomes) {
    const { project } = outcome;
    const add = (key: SeriesKey, value: number) => {
      const text = `${project} ${JSON.stringify(key)}`;
      const entry = samples.get(text) ?? { project, key, values: [] };
      entry.values.push(value);
      samples.set(text, entry);
    };
    if ("refusedFor" in outcome) {
      add(refusalKey(outcome), 1);
      continue;
    }
    add(keyOf(outcome, "totalMs"), outcome.totalMs);
    if (outcome.rows === null) add(keyOf(outcome, "lostMs"), outcome.totalMs);
    else add({ ...keyOf(outcome, "totalMs"), ...ROWS }, outcome.rows);
    for (const part of PARTS) {
      const value = outcome.split?.[part];
      if (value !== undefined) add(keyOf(outcome, part), value);
    }
    if (outcome.forecast !== null)
      for (const metric of FORECAST_METRICS)
        add(forecastKey(outcome, outcome.forecast, metric), Number(outcome.forecast[metric]));
  }
  return [...samples.values()].map(({ project, key, values }) => {
    const { count, min, max, sum, sketch } = summarise(values);
    return { project, key, aggregate: { count, min, max, sum, sketch } };
  });
}

const ROWS = { metric: "rows", unit: "rows", clock: null, direction: "higher" } as const;

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

/** A power of two, within those of calibrations: callers choose their rows, and each number would be a series. */
function floorBatch(rows: number): number {
  return Math.min(LIMITS.batchRows, 2 ** Math.floor(Math.log2(rows)));
}

/** What is kept of predictions: the mean of either is a share of the requests. */
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
