import type { Config } from "../../config.ts";
import { toInstant } from "../../clock.ts";
import {
  type Bucket,
  DAY_MS,
  FOUR_WEEKS_MS,
  HOUR_MS,
  MINUTE_MS,
  type Piece,
  ROLLUP_STEPS_MS,
  type RollupStepMs,
  type Span,
} from "../../store/history/rollup-store.ts";
import { parseStepMs } from "./merge-parts.ts";
import { planPieces } from "../rollup/plan-pieces.ts";
import { readHistory, readPieces, tooMuch, widenSpan } from "../rollup/read-history.ts";

/** Default span of a question. */
const DEFAULT_SPAN_MS = 30 * DAY_MS;
const RESOLUTIONS = {
  [FOUR_WEEKS_MS]: "28d",
  [DAY_MS]: "1d",
  [HOUR_MS]: "1h",
  [MINUTE_MS]: "1m",
} as const satisfies Record<RollupStepMs, string>;

/** Time fields of a question to several series. */
interface AskedWindow {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly step?: string | undefined;
}

/** A span, and its data source. */
export interface HistoryWindow {
  readonly span: Span;
  /** Null: the whole span is one step. */
  readonly stepMs: number | null;
  /** Null: the points as measured. */
  readonly pieces: readonly Piece[] | null;
  /** True if some of the data may have been deleted already, or soon will be. */
  readonly isFading: boolean;
}

/** The span of a question; default: the last thirty days including today. */
export function askedSpan({ from, to }: Pick<AskedWindow, "from" | "to">, nowMs: number): Span {
  const toMs = to === undefined ? (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS : Date.parse(to);
  return { fromMs: from === undefined ? toMs - DEFAULT_SPAN_MS : Date.parse(from), toMs };
}

/** Rollups that answer a question with the fewest rows, given its step and what is kept of that time. */
export function resolveWindow(
  { from, to, step }: AskedWindow,
  { requestsMs, minutesMs, hoursMs }: Pick<Config["retention"], "requestsMs" | "minutesMs" | "hoursMs">,
  nowMs: number,
): HistoryWindow {
  const asked = askedSpan({ from, to }, nowMs);
  if (step === undefined) {
    const plan = planPieces(asked, { minutesMs: nowMs - minutesMs, hoursMs: nowMs - hoursMs });
    return { ...plan, stepMs: null, isFading: false };
  }
  return steppedWindow(asked, parseStepMs(step), { requestsMs, minutesMs, hoursMs }, nowMs);
}

/** A span in steps, by the widest rollups that fit into one. */
export function steppedWindow(
  asked: Span,
  stepMs: number,
  { requestsMs, minutesMs, hoursMs }: Pick<Config["retention"], "requestsMs" | "minutesMs" | "hoursMs">,
  nowMs: number,
): HistoryWindow {
  const span = widenSpan(asked, stepMs);
  const rollupMs = ROLLUP_STEPS_MS.find((ms) => stepMs % ms === 0);
  const pieces = rollupMs === undefined ? null : [{ span, stepMs: rollupMs }];
  const forEver = Number.POSITIVE_INFINITY;
  const keptMs = { [FOUR_WEEKS_MS]: forEver, [DAY_MS]: forEver, [HOUR_MS]: hoursMs, [MINUTE_MS]: minutesMs };
  const isFading = span.fromMs < nowMs - (rollupMs === undefined ? requestsMs : keptMs[rollupMs]);
  return { span, stepMs, pieces, isFading };
}

/** The window's fields in a reply. */
export function describeWindow({ span, pieces }: HistoryWindow) {
  const widest = ROLLUP_STEPS_MS.find((ms) => pieces?.some(({ stepMs }) => stepMs === ms));
  return {
    from: toInstant(span.fromMs),
    to: toInstant(span.toMs),
    resolution: widest === undefined ? ("measured" as const) : RESOLUTIONS[widest],
  };
}

/** Parts of a window by series number, and the number of rows read. */
export async function readParts(
  binding: D1Database,
  numbers: readonly number[],
  { span, stepMs, pieces }: HistoryWindow,
): Promise<{ parts: ReadonlyMap<number, readonly Bucket[]>; rowsRead: number }> {
  const read =
    pieces === null ? await readMeasured(binding, numbers, span, stepMs) : await readPieces(binding, numbers, pieces);
  return { parts: Map.groupBy(read.buckets, ({ seriesNo }) => seriesNo), rowsRead: read.rowsRead };
}

/** The points as measured; throws where they are more than one reply may read. */
async function readMeasured(binding: D1Database, numbers: readonly number[], span: Span, stepMs: number | null) {
  const read = await readHistory(binding, numbers, span, stepMs);
  if (read.truncated) throw tooMuch();
  return read;
}
