import { configOf, type Env } from "../../config.ts";
import { openDatabase } from "../../store/database.ts";
import { type LandedPoint, readDetectionState, readLanded } from "../../store/history/detection-store.ts";
import { readSeriesByNo } from "../../store/history/series-store.ts";
import { isTransferring } from "../../store/transfer-store.ts";
import { detectSeries } from "./detect-series.ts";
import { closedHourMs } from "./read-series-points.ts";

/** Points that a step goes through, and series that it searches: some tens of milliseconds of work. */
const STEP_POINTS = 10_000;
const STEP_SERIES = 10;
/** Points of a series that are looked at when one lands. */
const LATEST_POINTS = 300;

/**
 * Searches the series for changes in which points landed since the last time, some series a step, until none is left
 * or `maxSteps` are done. It may be stopped anywhere and goes on later: a step counts whole or not at all.
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

/** Steps that follow what has just come: enough for one run. */
const STEPS_BEHIND_A_RUN = 2;

/** When this isolate last looked. */
let searchedAtMs = Number.NEGATIVE_INFINITY;

/**
 * Looks for changes in what has just come, and never fails. What this does not reach, the scheduled handler does: so
 * a flood of reports is not searched one by one, and nothing while a transfer wants the history to stay as it is.
 */
export async function searchLanded(env: Env, nowMs: number): Promise<void> {
  if (nowMs - searchedAtMs < configOf(env).searchGapMs) return;
  searchedAtMs = nowMs;
  try {
    if (!(await isTransferring(env.DB, nowMs))) await detectLanded(env, nowMs, STEPS_BEHIND_A_RUN);
  } catch (error) {
    console.error(JSON.stringify({ event: "detection-failed", error: String(error) }));
  }
}

/** The first series that are to be searched, and how far all points are seen once they were. */
function takeSeries(points: readonly LandedPoint[], nowMs: number): { numbers: number[]; detectedSeq: number } {
  const due = points.filter((point) => isDue(point, nowMs));
  const numbers = [...new Set(due.map(({ seriesNo }) => seriesNo))].slice(0, STEP_SERIES);
  const next = due.find(({ seriesNo }) => !numbers.includes(seriesNo));
  return { numbers, detectedSeq: next === undefined ? (points.at(-1)?.seq ?? 0) : next.seq - 1 };
}

/** What live requests left is looked at by the hour: again when another one is over. */
function isDue({ seq, isOfRun, seriesDetectedSeq, seriesDetectedAtMs }: LandedPoint, nowMs: number): boolean {
  if (seq <= seriesDetectedSeq) return false;
  return isOfRun === 1 || seriesDetectedAtMs === null || closedHourMs(seriesDetectedAtMs) < closedHourMs(nowMs);
}
