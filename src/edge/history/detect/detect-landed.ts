import { configOf, type Env } from "../../config.ts";
import { openDatabase } from "../../store/database.ts";
import { type LandedPoint, readDetectionState, readLanded } from "../../store/history/detection-store.ts";
import { readSeriesByNo } from "../../store/history/series-store.ts";
import { isTransferring } from "../../store/transfer-store.ts";
import { detectSeries } from "./detect-series.ts";
import { closedHourMs } from "./read-series-points.ts";
import { logFailure } from "../../log-failure.ts";

/** Points and series of one step: some tens of milliseconds of work. */
const STEP_POINTS = 10_000;
const STEP_SERIES = 10;
/** Latest points of a series that are searched when a point arrives. */
const LATEST_POINTS = 300;

/**
 * Searches series with new points for changes, some series a step, until all are done or `maxSteps` are reached. It may
 * stop anywhere and continue later: a step is stored whole or not at all.
 */
export async function detectLanded(env: Env, nowMs: number, maxSteps: number): Promise<{ isDone: boolean }> {
  for (let step = 0; step < maxSteps; step++) {
    const state = await readDetectionState(env.DB);
    const landed = await readLanded(env.DB, state.detectedSeq, STEP_POINTS);
    if (landed.points.length === 0) return { isDone: true };
    const { numbers, detectedSeq } = takeSeries(landed.points, nowMs);
    const series = await readSeriesByNo(openDatabase(env.DB), numbers);
    const progress = { detectedSeq, numbers, seriesDetectedSeq: landed.lastSeq };
    const task = { series, pointLimit: LATEST_POINTS, parameters: {}, progress, nowMs };
    if ((await detectSeries(env, task)).kind === "overtaken") return { isDone: false };
  }
  return { isDone: false };
}

/** Steps after a report: enough for one run. */
const STEPS_BEHIND_A_RUN = 2;

/** Time of this isolate's last search. */
let searchedAtMs = Number.NEGATIVE_INFINITY;

/**
 * Searches the series of new points for changes; never fails. The scheduled handler does the rest, so that a flood of
 * reports is not searched one by one. Nothing is searched while a transfer keeps the history unchanged.
 */
export async function searchLanded(env: Env, nowMs: number): Promise<void> {
  if (nowMs - searchedAtMs < configOf(env).searchGapMs) return;
  searchedAtMs = nowMs;
  try {
    if (!(await isTransferring(env.DB, nowMs))) await detectLanded(env, nowMs, STEPS_BEHIND_A_RUN);
  } catch (error) {
    logFailure("detection-failed", error);
  }
}

/** The first series to search, and the sequence number up to which all points are searched after them. */
function takeSeries(points: readonly LandedPoint[], nowMs: number): { numbers: number[]; detectedSeq: number } {
  const due = points.filter((point) => isDue(point, nowMs));
  const numbers = [...new Set(due.map(({ seriesNo }) => seriesNo))].slice(0, STEP_SERIES);
  const next = due.find(({ seriesNo }) => !numbers.includes(seriesNo));
  return { numbers, detectedSeq: next === undefined ? (points.at(-1)?.seq ?? 0) : next.seq - 1 };
}

/** Series of live requests are searched hourly: again after another full hour. */
function isDue({ seq, isOfRun, seriesDetectedSeq, seriesDetectedAtMs }: LandedPoint, nowMs: number): boolean {
  if (seq <= seriesDetectedSeq) return false;
  return isOfRun === 1 || seriesDetectedAtMs === null || closedHourMs(seriesDetectedAtMs) < closedHourMs(nowMs);
}
