import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { openDatabase } from "../../store/database.ts";
import { readPoints } from "../../store/history/point-store.ts";
import { type Bucket, type Piece, readSpan, ROLLUP_STEPS_MS, type Span } from "../../store/history/rollup-store.ts";

/** Parts of series over a time span, to be merged by step. */
export interface HistoryRead {
  /** Sorted by series, then by time. */
  readonly buckets: readonly Bucket[];
  /** The span that was read; whole steps where there is a step. */
  readonly span: Span;
  /** True if there was more data than was read; the oldest is missing. */
  readonly truncated: boolean;
  /** As counted and billed by the database. */
  readonly rowsRead: number;
}

/** Whole steps that contain a span. */
export function widenSpan({ fromMs, toMs }: Span, stepMs: number): Span {
  return { fromMs: Math.floor(fromMs / stepMs) * stepMs, toMs: Math.ceil(toMs / stepMs) * stepMs };
}

/**
 * Reads the widest rollups that fit into a step. Where none fits (no step, or one of seconds), reads the points as
 * measured, up to `limit` for each series.
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

/** Reads a span in consecutive pieces, each from its own rollups. */
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

/** Error for a question that would read too many rows. */
export function tooMuch(): ProblemError {
  return new ProblemError("invalid-request", `This would put together more than ${LIMITS.historyRows} parts.`, {
    errors: [{ pointer: "query/step", message: "must be longer, or the span shorter, or the series fewer" }],
  });
}
