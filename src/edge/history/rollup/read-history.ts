import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { openDatabase } from "../../store/database.ts";
import { readPoints } from "../../store/history/point-store.ts";
import { type Bucket, type Piece, readSpan, ROLLUP_STEPS_MS, type Span } from "../../store/history/rollup-store.ts";

/** Parts of series over a time span, to be merged by step. */
export interface HistoryRead {
  /** By series, then by time. */
  readonly buckets: readonly Bucket[];
  /** The span that was read: with a step, whole ones. */
  readonly span: Span;
  /** Whether there was more than was read: what is missing is the oldest. */
  readonly truncated: boolean;
  /** As the database counts and bills them. */
  readonly rowsRead: number;
}

/** Whole steps that hold a span. */
export function widenSpan({ fromMs, toMs }: Span, stepMs: number): Span {
  return { fromMs: Math.floor(fromMs / stepMs) * stepMs, toMs: Math.ceil(toMs / stepMs) * stepMs };
}

/**
 * Reads what a step needs and no more: the widest rollups that fit into it, or where none does (no step, or one
 * of seconds) the points as they were measured, `limit` of them a series.
 */
export async function readHistory(
  binding: D1Database,
  numbers: readonly number[],
  asked: Span,
  stepMs: number | null,
  limit: number = LIMITS.historyPoints,
): Promise<HistoryRead> {
  const rollupMs = stepMs === null ? undefined : ROLLUP_STEPS_MS.find((ms) => stepMs % ms === 0);
  const span = stepMs === null ? asked : widenSpan(asked, stepMs);
  if (rollupMs !== undefined) {
    return { ...(await readPieces(binding, numbers, [{ span, stepMs: rollupMs }])), span, truncated: false };
  }
  const db = openDatabase(binding);
  const buckets: Bucket[] = [];
  let rowsRead = 0;
  let truncated = false;
  for (const seriesNo of numbers) {
    const points = await readPoints(db, seriesNo, span, limit);
    truncated ||= points.length > limit;
    rowsRead += points.length;
    if (rowsRead > LIMITS.historyRows) throw tooMuch();
    buckets.push(...points.slice(-limit).map((point) => ({ ...point, seriesNo })));
  }
  return { buckets, span, truncated, rowsRead };
}

/** Reads a span in pieces that follow each other, each by the rollups that it names. */
export async function readPieces(
  binding: D1Database,
  numbers: readonly number[],
  pieces: readonly Piece[],
): Promise<Pick<HistoryRead, "buckets" | "rowsRead">> {
  const rising = numbers.toSorted((a, b) => a - b);
  const read = await readSpan(binding, { numbers: rising, pieces, maxRows: LIMITS.historyRows });
  if (!read.ok) throw tooMuch();
  return read;
}

/** Of a question that would read more than one may. */
export function tooMuch(): ProblemError {
  return new ProblemError("invalid-request", `This would put together more than ${LIMITS.historyRows} parts.`, {
    errors: [{ pointer: "query/step", message: "must be longer, or the span shorter, or the series fewer" }],
  });
}
