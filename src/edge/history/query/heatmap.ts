import type { Heatmap, HeatmapQuery } from "../../../protocol/history/history-query.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { bucketBound } from "../../../stats/distribution/sketch.ts";
import { toInstant } from "../../clock.ts";
import type { AskedSeries } from "./ask-series.ts";
import { groupSeries, quantityOf } from "./group-series.ts";
import { describeWindow, readParts } from "./history-window.ts";
import { createMerger, parseStepMs, sketchOf } from "./merge-parts.ts";

/** Usual steps of time axes; the shortest one with few enough columns is used. */
const USUAL_STEPS = ["1m", "5m", "15m", "1h", "3h", "6h", "12h", "1d", "7d", "30d"] as const;
const USUAL_COLUMNS = 120;

/** Default step for a span. */
export function chooseStep(spanMs: number): string {
  const found = USUAL_STEPS.find((step) => spanMs / parseStepMs(step) <= USUAL_COLUMNS);
  return found ?? `${Math.ceil(spanMs / USUAL_COLUMNS / parseStepMs("1d"))}d`;
}

/** Counts of one step. */
interface Column {
  readonly atMs: number;
  readonly buckets: readonly (readonly [index: number, count: number])[];
  /** Count of zeros and negative values. */
  readonly low: number;
  readonly min: number;
}

/** Counts by time and value. All of the series must measure the same quantity. */
export async function drawHeatmap(
  binding: D1Database,
  { series, window }: AskedSeries,
  { rows }: Pick<HeatmapQuery, "rows">,
  step: string,
): Promise<{ body: Heatmap; rowsRead: number }> {
  const stepMs = parseStepMs(step);
  if ((window.span.toMs - window.span.fromMs) / stepMs > LIMITS.heatmapTimes) throw tooManyTimes();
  const [group, ...others] = groupSeries(series, []);
  const [other] = others;
  if (group !== undefined && other !== undefined) throw severalQuantities(quantityOf(group), quantityOf(other));
  const numbers = series.map(({ no }) => no);
  const { parts, rowsRead } = await readParts(binding, numbers, window);
  const steps = Map.groupBy([...parts.values()].flat(), ({ atMs }) => Math.floor(atMs / stepMs) * stepMs);
  const merge = createMerger();
  const columns: Column[] = [];
  for (const [atMs, members] of [...steps].toSorted(([a], [b]) => a - b)) {
    const merged = await merge(members);
    const { positive, negative, zeros } = sketchOf(merged);
    const low = negative.values().reduce((sum, count) => sum + count, zeros);
    columns.push({ atMs, buckets: [...positive], low, min: merged.min });
  }
  const body: Heatmap = {
    quantity: group === undefined ? null : quantityOf(group),
    series: series.map(({ id }) => id),
    step,
    times: columns.map(({ atMs }) => toInstant(atMs)),
    ...countByRow(columns, rows),
    ...describeWindow(window),
  };
  return { body, rowsRead };
}

/** Merges neighbouring buckets so that there are at most `maxRows` rows. */
export function countByRow(columns: readonly Column[], maxRows: number): Pick<Heatmap, "edges" | "counts"> {
  let [first, last, min] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (const { buckets, min: lowest } of columns) {
    first = Math.min(first, buckets[0]?.[0] ?? first);
    last = Math.max(last, buckets.at(-1)?.[0] ?? last);
    min = Math.min(min, lowest);
  }
  const lowRows = columns.some(({ low }) => low > 0) ? 1 : 0;
  const buckets = Math.max(0, last - first + 1);
  const width = Math.max(1, Math.ceil(buckets / (maxRows - lowRows)));
  const highRows = Math.ceil(buckets / width);
  const bounds = Array.from({ length: highRows + 1 }, (_, i) => bucketBound(first - 1 + i * width));
  const edges = [...(lowRows === 0 ? [] : [min]), ...(highRows === 0 ? [0].slice(0, lowRows) : bounds)];
  const counts = columns.map((column) => {
    const row = Array.from({ length: lowRows + highRows }, () => 0);
    if (lowRows > 0) row[0] = column.low;
    for (const [index, count] of column.buckets) {
      const place = lowRows + Math.floor((index - first) / width);
      row[place] = (row[place] ?? 0) + count;
    }
    return row;
  });
  return { edges, counts };
}

function tooManyTimes(): ProblemError {
  return new ProblemError("invalid-request", `A heat map has at most ${LIMITS.heatmapTimes} steps.`, {
    errors: [{ pointer: "query/step", message: "must be longer, or the span shorter" }],
  });
}

/** Names the first differing field of the quantity, as a selector for the caller. */
function severalQuantities(one: object, other: object): ProblemError {
  const [name = "metric"] =
    Object.entries(one).find(([key, value]) => value !== new Map(Object.entries(other)).get(key)) ?? [];
  const field = name === "direction" ? "metric" : name;
  return new ProblemError("invalid-request", `These series measure different things: they differ in ${name}.`, {
    errors: [{ pointer: `query/${field}`, message: "must select series that measure the same" }],
  });
}
