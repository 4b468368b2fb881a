import { createRow, type Metric, type PeerResult, type Row, type RowContext } from "../row.ts";
import { f1, precision, recall, type Score } from "./score-alarms.ts";

/** A contender's scores over all series of a case, or the reason why there are none. */
export type Contender = { readonly name: string } & (
  | {
      /** Point by point, as the series grew. */
      readonly online: Score;
      /** Score on whole series; null where it judges new points only. */
      readonly whole: Score | null;
    }
  | { readonly reason: string }
);

const SHARE = { unit: "share", better: "higher" } as const;
const POINTS = { unit: "points", better: "lower" } as const;

/** Rows of one case, one metric after the other: ours, the first contender, against each of the others. */
export function createScoreRows(context: RowContext, [ours, ...peers]: readonly Contender[]): readonly Row[] {
  if (ours === undefined || "reason" in ours) throw new Error("ours has no score");
  return listMetrics(ours.online).flatMap(([name, metric, measure]) =>
    peers.flatMap((peer) => {
      const [own] = measure(ours);
      if (own === undefined) return [];
      const result: PeerResult = "reason" in peer ? peer : asResult(measure(peer));
      return [createRow(context, [name, metric], [own], { name: peer.name, ...result })];
    }),
  );
}

/** No value where there is nothing to measure. */
type Measure = (contender: { readonly online: Score; readonly whole: Score | null }) => readonly number[];
type MeasuredMetric = readonly [name: string, metric: Metric, measure: Measure];

/** Values over all series. Where there is nothing to find, only false alarms count. */
function listMetrics({ known, points }: Score): readonly MeasuredMetric[] {
  // Half an alarm more for each, so that zero alarms have a ratio too.
  const falseAlarms = { unit: "1/1000 points", better: "lower", addend: 500 / points } as const;
  const alarms: MeasuredMetric = ["false alarms", falseAlarms, ({ online }) => [perThousand(online)]];
  if (known === 0) return [alarms];
  return [
    ["precision", SHARE, ({ online }) => [precision(online)]],
    ["recall", SHARE, ({ online }) => [recall(online)]],
    ["F1", SHARE, ({ online }) => [f1(online)]],
    ["F1 of whole series", SHARE, ({ whole }) => (whole === null ? [] : [f1(whole)])],
    ["delay", POINTS, ({ online }) => meanOf(online.delays)],
    alarms,
  ];
}

function asResult(values: readonly number[]): PeerResult {
  return values.length > 0 ? { values } : { reason: "it found none, or does not look back" };
}

function perThousand({ falseAlarms, points }: Score): number {
  return (1_000 * falseAlarms) / points;
}

/** Empty for an empty list. */
function meanOf(values: readonly number[]): readonly number[] {
  return values.length === 0 ? [] : [values.reduce((sum, value) => sum + value, 0) / values.length];
}
