import type { HistoryPoint, PointsQuery, PointsReply } from "../../../protocol/history/history.ts";
import type { SeriesSelector } from "../../../protocol/history/series.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { configOf, type ProjectEnv } from "../../config.ts";
import type { Answer } from "../../http/answers.ts";
import { decodeCursor, encodeCursor, wrongCursor } from "../../store/cursor.ts";
import { openDatabase, openProject } from "../../store/database.ts";
import { type PointPlace, readPoints } from "../../store/history/point-store.ts";
import { ALL_TIME, type Span } from "../../store/history/rollup-store.ts";
import { readSelection, type SelectedSeries, type Selection, toSeries } from "../../store/history/series-store.ts";
import { readHistory } from "../rollup/read-history.ts";
import { type HistoryWindow, resolveWindow, steppedWindow } from "./history-window.ts";
import { mergePoints, parseStepMs } from "./merge-parts.ts";

/** Fields that questions to several series share. */
interface Asked extends SeriesSelector {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly step?: string | undefined;
}

/** Series and span of a question, before any of their points is read. */
export interface AskedSeries {
  readonly series: readonly SelectedSeries[];
  readonly window: HistoryWindow;
  /** Changes whenever the data read would change. */
  readonly state: unknown;
}

/**
 * Resolves a question's series and span. Throws for more series than one reply may merge: a part would answer another
 * question.
 */
export async function askSeries(
  env: ProjectEnv,
  { from, to, step, ...asked }: Asked,
  nowMs: number,
): Promise<AskedSeries> {
  const selection = await readSelection(openProject(env), asked, LIMITS.queriedSeries);
  if (selection.series.length > LIMITS.queriedSeries) throw tooManySeries();
  const window = resolveWindow({ from, to, step }, configOf(env).retention, nowMs);
  return { series: selection.series, window, state: stateOf(selection, window) };
}

/**
 * Fingerprint of the history as far as a question sees it: the series, and the count of all points that each ever
 * received. Where points may have been deleted, also the number of deletions.
 */
function stateOf({ series, rollVersion, prunedSeq }: Selection, window: HistoryWindow): unknown {
  const forgotten = window.pieces === null ? prunedSeq : rollVersion;
  return [
    series.map(({ id, points, mutedAtMs }) => [id, points, mutedAtMs]),
    window.span,
    window.stepMs,
    window.isFading ? forgotten : null,
  ];
}

function tooManySeries(): ProblemError {
  const message = `must select fewer series, or other dimensions must: at most ${LIMITS.queriedSeries}`;
  return new ProblemError("invalid-request", `This means more than ${LIMITS.queriedSeries} series.`, {
    errors: [{ pointer: "query/series", message }],
  });
}

type PointsOf = Pick<PointsReply, "nextCursor" | "truncated"> & { points: HistoryPoint[]; rowsRead: number };

/** Finds a series, and the fingerprint of its points; reads the points on demand. */
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

/** A page of points as measured: the newest, or those before a cursor. */
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
