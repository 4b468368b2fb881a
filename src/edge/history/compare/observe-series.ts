import { LIMITS } from "../../../protocol/wire/limits.ts";
import { invalidRequest } from "../../../protocol/wire/parse-input.ts";
import { type OpenAggregate, openMerged } from "../../../stats/distribution/distribution.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, readSpan, type Span } from "../../store/history/rollup-store.ts";
import { readRunPoints, type RunPoint } from "../../store/history/point-store.ts";
import { widenSpan } from "../rollup/read-history.ts";
import { endTurn } from "../../turns.ts";
import type { MeantSide } from "./resolve-sides.ts";

/** All that one run measured of a series. */
export interface ObservedRun {
  readonly runId: string;
  readonly revision: string | null;
  readonly atMs: number;
  readonly aggregate: OpenAggregate;
}

/** One side's data of a series: runs, newest first, or the rollups of live requests where there are no runs. */
export interface Observed {
  readonly runs: readonly ObservedRun[];
  readonly merged: (Span & { readonly aggregate: OpenAggregate }) | null;
  /** True if older runs were left out. */
  readonly truncated: boolean;
}

/** Fewest parts of a span of live requests: the widest rollups that give this many are read. */
const FEWEST_STEPS = 10;
/** A window is widened to whole steps; beyond days it would become another window. */
const STEPS_MS = [DAY_MS, HOUR_MS, MINUTE_MS] as const;

/** Reads a side's data of its series; `sides` share the read limit. */
export async function observeSeries(
  binding: D1Database,
  side: MeantSide,
  numbers: readonly number[],
  seriesInAll: number,
): Promise<Map<number, Observed>> {
  const perSeries = Math.min(LIMITS.comparedPoints, Math.floor(LIMITS.comparedPointsInAll / Math.max(1, seriesInAll)));
  const filter = { span: side.span, runId: side.run ?? null, revision: side.revision ?? null };
  const bySeries = Map.groupBy(await readRunPoints(binding, numbers, filter, perSeries), ({ seriesNo }) => seriesNo);
  const observed = new Map<number, Observed>();
  for (const [no, points] of bySeries) {
    observed.set(no, observeRuns(points, perSeries, side.last));
    // A series' points take milliseconds to merge, and there may be hundreds of series.
    await endTurn();
  }
  const without = numbers.filter((no) => !bySeries.has(no));
  const wantsRuns = side.run !== undefined || side.revision !== undefined || side.last !== undefined;
  if (without.length === 0 || wantsRuns) return observed;
  for (const [no, merged] of await mergeLive(binding, side, without)) {
    observed.set(no, { runs: [], merged, truncated: false });
  }
  return observed;
}

/** Groups points by run. `points` are newest first; one more than the limit shows that the list is cut. */
export function observeRuns(points: readonly RunPoint[], limit: number, last: number | undefined): Observed {
  const runs = [...Map.groupBy(points.slice(0, limit), ({ runId }) => runId).values()].map(toRun);
  const cut = points.length > limit;
  // The run at the cut is incomplete.
  const whole = cut && runs.length > 1 ? runs.slice(0, -1) : runs;
  return { runs: whole.slice(0, last), merged: null, truncated: cut && (last === undefined || last > whole.length) };
}

function toRun(points: readonly RunPoint[]): ObservedRun {
  const [newest] = points as [RunPoint];
  return {
    runId: newest.runId,
    revision: newest.revision,
    atMs: newest.atMs,
    aggregate: openMerged(points),
  };
}

/** Live requests are kept as rollups only, and successive rollups are not runs. */
async function mergeLive(binding: D1Database, { name, span }: MeantSide, numbers: readonly number[]) {
  const stepMs = STEPS_MS.find((ms) => (span.toMs - span.fromMs) / ms >= FEWEST_STEPS) ?? MINUTE_MS;
  const whole = widenSpan(span, stepMs);
  const rising = numbers.toSorted((a, b) => a - b);
  const read = await readSpan(binding, {
    numbers: rising,
    pieces: [{ span: whole, stepMs }],
    maxRows: LIMITS.historyRows,
  });
  if (!read.ok) {
    const message = `has more than ${LIMITS.historyRows} parts of live requests: take a shorter window or fewer series`;
    throw invalidRequest([{ pointer: `query/${name}`, message }]);
  }
  const bySeries = Map.groupBy(read.buckets, ({ seriesNo }) => seriesNo);
  const merged: (readonly [no: number, merged: NonNullable<Observed["merged"]>])[] = [];
  for (const [no, buckets] of bySeries) {
    const times = buckets.map(({ atMs }) => atMs);
    const fromMs = Math.max(whole.fromMs, Math.min(...times));
    const toMs = Math.min(whole.toMs, Math.max(...times) + stepMs);
    merged.push([no, { fromMs, toMs, aggregate: openMerged(buckets) }]);
    await endTurn();
  }
  return merged;
}
