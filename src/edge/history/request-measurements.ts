import type { SeriesKey } from "../../protocol/history.ts";
import type { Clock } from "../../protocol/distribution.ts";
import type { Fingerprint } from "../../protocol/hardware.ts";
import type { LatencySplit, ServiceTimes } from "../../protocol/inference.ts";
import { type Aggregate, summarise } from "../../stats/distribution.ts";

/** What a Worker saw of one admitted request, or a runner of one that a ticket brought. Requests that got no answer have no split. */
export interface RequestOutcome {
  readonly subject: string;
  readonly variant: string;
  readonly backend: string;
  readonly batch: number;
  readonly software: boolean;
  readonly fingerprint: Fingerprint;
  readonly totalMs: number;
  /** The runner's, where the request did not go through the edge; absent: the edge's. */
  readonly totalClock?: Clock;
  /** Where the time went, as far as it is known: a direct request has no part in edge and link. */
  readonly split: (ServiceTimes & Partial<LatencySplit>) | null;
}

/** The clock of each metric: the Worker's own for what it sees, the runner's for what happens there. */
const CLOCKS = {
  totalMs: "edge-wall",
  edgeMs: "edge-wall",
  linkMs: "edge-wall",
  queueMs: "runner-wall",
  uploadMs: "runner-wall",
  computeMs: "runner-wall",
  readbackMs: "runner-wall",
} as const satisfies Record<string, Clock>;
type Metric = keyof typeof CLOCKS;
const PARTS = ["edgeMs", "linkMs", "queueMs", "uploadMs", "computeMs", "readbackMs"] as const;

/**
 * One aggregate a series over a batch of outcomes. `totalMs` counts every admitted request, those
 * that missed their deadline too: leaving them out would flatter the tail.
 */
export function measureOutcomes(outcomes: readonly RequestOutcome[]): { key: SeriesKey; aggregate: Aggregate }[] {
  const samples = new Map<string, { key: SeriesKey; values: number[] }>();
  const add = (outcome: RequestOutcome, metric: Metric, value: number) => {
    const key = keyOf(outcome, metric);
    const text = JSON.stringify(key);
    const entry = samples.get(text) ?? { key, values: [] };
    entry.values.push(value);
    samples.set(text, entry);
  };
  for (const outcome of outcomes) {
    add(outcome, "totalMs", outcome.totalMs);
    for (const part of PARTS) {
      const value = outcome.split?.[part];
      if (value !== undefined) add(outcome, part, value);
    }
  }
  return [...samples.values()].map(({ key, values }) => {
    const { count, min, max, sum, sketch } = summarise(values);
    return { key, aggregate: { count, min, max, sum, sketch } };
  });
}

function keyOf(outcome: RequestOutcome, metric: Metric): SeriesKey {
  const { subject, variant, backend, batch, fingerprint, software } = outcome;
  return {
    subjectKind: "model",
    subject,
    metric,
    unit: "ms",
    clock: metric === "totalMs" ? (outcome.totalClock ?? CLOCKS.totalMs) : CLOCKS[metric],
    direction: "lower",
    configuration: { variant, backend, batch },
    fingerprint,
    software,
    label: null,
  };
}
