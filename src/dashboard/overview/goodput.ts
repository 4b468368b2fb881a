import type { HistoryQueryReply } from "../../protocol/history/history-query.ts";
import type { PredictionCalibration } from "../../protocol/history/prediction-calibration.ts";

const MINUTE_MS = 60_000;
const REFUSED = "refused.";

/** Outcomes of the requests of one minute. */
interface Minute {
  readonly atMs: number;
  readonly answered: number;
  /** Admitted because they were predicted to be in time, and of these those that were. */
  readonly predicted: number;
  readonly inTime: number;
  /** Without an answer, by the problem that the caller got. */
  readonly missed: Readonly<Record<string, number>>;
}

export interface Goodput {
  /** Every minute of the span, oldest first; the last one is under way. */
  readonly minutes: readonly Minute[];
  readonly answered: number;
  readonly predicted: number;
  readonly inTime: number;
  /** The most frequent first. */
  readonly missed: readonly { readonly reason: string; readonly count: number }[];
}

/** The edge's request counts by minute. */
export interface Counted {
  readonly predictions: Pick<PredictionCalibration, "items">;
  /** Groups of the metric `rows`, one point per answered request. */
  readonly answers: Pick<HistoryQueryReply, "groups">;
  /** Groups of the metrics `refused.<problem code>`. */
  readonly refusals: Pick<HistoryQueryReply, "groups">;
}

/** Sums the counts between two instants; the first begins a minute. */
export function sumGoodput(counted: Counted, fromMs: number, toMs: number): Goodput {
  const minutes = Array.from({ length: Math.max(1, Math.ceil((toMs - fromMs) / MINUTE_MS)) }, (_, index) => ({
    atMs: fromMs + index * MINUTE_MS,
    answered: 0,
    predicted: 0,
    inTime: 0,
    missed: {} as Record<string, number>,
  }));
  const minuteOf = (at: string) => minutes[Math.floor((Date.parse(at) - fromMs) / MINUTE_MS)];
  for (const { points } of counted.answers.groups) {
    for (const { at, count } of points) {
      const minute = minuteOf(at);
      if (minute !== undefined) minute.answered += count;
    }
  }
  for (const { at, requests, inTime } of counted.predictions.items.flatMap(({ steps }) => steps)) {
    const minute = minuteOf(at);
    if (minute === undefined) continue;
    minute.predicted += requests;
    minute.inTime += inTime;
  }
  for (const { metric, points } of counted.refusals.groups) {
    if (!metric.startsWith(REFUSED)) continue;
    const reason = metric.slice(REFUSED.length);
    for (const { at, count } of points) {
      const minute = minuteOf(at);
      if (minute !== undefined) minute.missed[reason] = (minute.missed[reason] ?? 0) + count;
    }
  }
  const total = (of: "answered" | "predicted" | "inTime") => minutes.reduce((sum, minute) => sum + minute[of], 0);
  return {
    minutes,
    answered: total("answered"),
    predicted: total("predicted"),
    inTime: total("inTime"),
    missed: sumReasons(minutes),
  };
}

function sumReasons(minutes: readonly Minute[]): Goodput["missed"] {
  const totals = new Map<string, number>();
  for (const [reason, count] of minutes.flatMap(({ missed }) => Object.entries(missed)))
    totals.set(reason, (totals.get(reason) ?? 0) + count);
  return [...totals]
    .map(([reason, count]) => ({ reason, count }))
    .toSorted((a, b) => b.count - a.count || a.reason.localeCompare(b.reason));
}
