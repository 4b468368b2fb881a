import type { HistoryPoint, PointsQuery, PointsReply } from "../../protocol/history.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { configOf, type ProjectEnv } from "../config.ts";
import type { Answer } from "../http/answer-once.ts";
import { decodeCursor, encodeCursor, wrongCursor } from "../store/cursor.ts";
import { openDatabase, openProject } from "../store/database.ts";
import { type PointPlace, readPoints } from "../store/point-store.ts";
import { ALL_TIME, type Span } from "../store/rollup-store.ts";
import { readSelection, toSeries } from "../store/series-store.ts";
import { stateOf } from "./ask-series.ts";
import { steppedWindow } from "./history-window.ts";
import { mergePoints, parseStepMs } from "./merge-points.ts";
import { readHistory } from "./read-history.ts";

type PointsOf = Pick<PointsReply, "nextCursor" | "truncated"> & { points: HistoryPoint[]; rowsRead: number };

/** Finds a series, and what tells whether its points are still the same; reads them when asked to. */
export async function askPoints(
  env: ProjectEnv,
  query: PointsQuery,
  nowMs: number,
): Promise<{ state: unknown; read: () => Promise<Answer<PointsReply>> }> {
  const before = query.cursor === undefined ? undefined : toPlace(query.cursor);
  const selection = await readSelection(openProject(env), { series: [query.series] }, 1);
  const [series] = selection.series;
  if (series === undefined) {
    const errors = [{ pointer: "query/series", message: "is not a series" }];
    throw new ProblemError("not-found", `There is no series ${query.series}.`, { errors });
  }
  const span = {
    fromMs: query.from === undefined ? 0 : Date.parse(query.from),
    toMs: query.to === undefined ? ALL_TIME.toMs : Date.parse(query.to),
  };
  const { retention } = configOf(env);
  const window =
    query.step === undefined
      ? { span, stepMs: null, pieces: null, isFading: span.fromMs < nowMs - retention.requestsMs }
      : steppedWindow(span, parseStepMs(query.step), retention, nowMs);
  const read = async () => {
    const { rowsRead, ...found } =
      window.stepMs === null
        ? await readMeasured(env.DB, series.no, span, query, before)
        : await readSteps(env.DB, series.no, span, window.stepMs, query);
    return { body: { series: toSeries(series), ...found }, rowsRead };
  };
  return { state: stateOf(selection, window), read };
}

/** A page of points as they were measured: the newest, or those before a cursor. */
async function readMeasured(
  binding: D1Database,
  no: number,
  span: Span,
  query: PointsQuery,
  before: PointPlace | undefined,
): Promise<PointsOf> {
  const found = await readPoints(openDatabase(binding), no, span, query.limit, before);
  const page = found.slice(-query.limit);
  const [oldest] = page;
  const truncated = page.length < found.length;
  const nextCursor = truncated && oldest !== undefined ? encodeCursor([oldest.atMs, oldest.seq]) : null;
  return { points: await mergePoints(page, null, query), truncated, nextCursor, rowsRead: found.length };
}

function toPlace(cursor: string): PointPlace {
  const [atMs, seq] = decodeCursor(cursor, 2);
  if (!Number.isSafeInteger(atMs) || !Number.isSafeInteger(seq)) throw wrongCursor();
  return [Number(atMs), Number(seq)];
}

/** The newest steps. */
async function readSteps(
  binding: D1Database,
  no: number,
  span: Span,
  stepMs: number,
  query: PointsQuery,
): Promise<PointsOf> {
  const { buckets, truncated, rowsRead } = await readHistory(binding, [no], span, stepMs, LIMITS.historyPoints);
  const points = await mergePoints(buckets, stepMs, query);
  return {
    points: points.slice(-query.limit),
    truncated: truncated || points.length > query.limit,
    nextCursor: null,
    rowsRead,
  };
}
