import { type Expected, fullRowsOf, type Line, type Waiting } from "./play-queue.ts";
import { SURE } from "./service-times.ts";

/** Arrivals of a line that stand for the next ones: so many, none older than this; and most lines with some. */
const KEPT_ARRIVALS = 64;
const SPAN_MS = 1_000;
const KEPT_LINES = 64;
/** A burst counts as soon as it fills this span. */
const BURST_MS = 100;
/** Age at which what was read of a line is read again. */
const FRESH_MS = 10;
/** Most of a device's time that is kept free for work to come. */
const MOST_KEPT_FREE = 0.9;
/** Gain for which a batch is made larger: less is noise. */
const LEAST_GAIN = 0.03;

type Arrival = Pick<Waiting, "priority"> & { readonly atMs: number; readonly budgetMs: number };

interface Stream {
  /** Oldest first. */
  readonly arrivals: Arrival[];
  read: { readonly atMs: number; readonly ratePerMs: number; readonly recent: readonly Arrival[] };
  sized: { readonly atMs: number; readonly fullRows: number; readonly rows: number };
}

/**
 * Recent arrivals at a device by line, whether admitted or refused. The next ones are expected to be like them. So a
 * plan knows what its batches will keep waiting, and what room to leave.
 * Lines compete by what they earn: answers per millisecond of the device, in the batches that are cheapest by row.
 */
export class Traffic {
  readonly #streams = new Map<Line, Stream>();

  note({ line, deadlineMs, priority }: Waiting, nowMs: number): void {
    const known = this.#streams.get(line);
    const stream = known ?? createStream();
    if (known === undefined) {
      this.#streams.set(line, stream);
      // Callers choose the shapes that make lines.
      if (this.#streams.size > KEPT_LINES) this.#streams.delete(this.#streams.keys().next().value!);
    }
    stream.arrivals.push({ atMs: nowMs, budgetMs: deadlineMs - nowMs, priority });
    if (stream.arrivals.length > KEPT_ARRIVALS) stream.arrivals.shift();
  }

  expectedAt(nowMs: number): Expected {
    return {
      rowsOf: (line) => this.#rowsOf(line, nowMs),
      shareAbove: (line, priority) => this.#shareAbove(line, priority, nowMs),
    };
  }

  /**
   * Size of a batch with most answers a millisecond, less those that others lose by it. One size beyond the measured ones
   * is tried where the largest of those is the best.
   */
  #rowsOf(line: Line, nowMs: number): number {
    const fullRows = fullRowsOf(line);
    const sized = this.#streams.get(line)?.sized;
    if (sized !== undefined && sized.fullRows === fullRows && nowMs - sized.atMs < FRESH_MS) return sized.rows;
    const { measuredRows } = line.times;
    let [rows, gain] = [1, this.#gainOf(line, 1, nowMs)];
    for (let size = 1; size < fullRows;) {
      const isBest = rows === size;
      size = Math.min(fullRows, 2 * size);
      if (size > measuredRows) {
        if (isBest) rows = size;
        break;
      }
      const next = this.#gainOf(line, size, nowMs);
      if (next > gain + LEAST_GAIN * Math.abs(gain)) [rows, gain] = [size, next];
    }
    const stream = this.#streams.get(line);
    if (stream !== undefined) stream.sized = { atMs: nowMs, fullRows, rows };
    return rows;
  }

  /**
   * Answers per millisecond of a batch, less those that requests of other lines lose which arrive meanwhile and cannot
   * wait for its end. One of them counts by what it earns beyond the time that it would take from this line.
   */
  #gainOf(line: Line, rows: number, nowMs: number): number {
    const runMs = line.times.expectedMs(rows);
    if (runMs === 0) return Infinity;
    let lost = 0;
    for (const [other, stream] of this.#streams) {
      const worth = 1 - (rows / runMs) * costMs(other);
      if (other === line || worth <= 0) continue;
      const { ratePerMs, recent } = this.#read(other, stream, nowMs);
      const ownMs = other.times.quantileMs(1, SURE);
      // A request is lost that comes in the first part of the run, which is as long as it cannot wait.
      const lostMs = recent.reduce(
        (sum, { budgetMs }) => sum + Math.max(0, Math.min(runMs, runMs + ownMs - budgetMs)),
        0,
      );
      if (lostMs > 0) lost += (worth * ratePerMs * lostMs) / recent.length;
    }
    return (rows - lost) / runMs;
  }

  /** Share of the device's time for expected requests of this priority at least whose lines earn more. */
  #shareAbove(line: Line, priority: number, nowMs: number): number {
    const ownMs = costMs(line);
    let share = 0;
    for (const [other, stream] of this.#streams) {
      const otherMs = costMs(other);
      if (other === line || otherMs >= ownMs) continue;
      const { ratePerMs, recent } = this.#read(other, stream, nowMs);
      if (recent.length === 0) continue;
      const counted = recent.filter((each) => each.priority >= priority).length;
      share += (ratePerMs * otherMs * counted) / recent.length;
    }
    return Math.min(MOST_KEPT_FREE, share);
  }

  #read(line: Line, stream: Stream, nowMs: number): Stream["read"] {
    if (nowMs - stream.read.atMs < FRESH_MS) return stream.read;
    const recent = stream.arrivals.filter(({ atMs }) => nowMs - atMs <= SPAN_MS);
    const lately = recent.filter(({ atMs }) => nowMs - atMs <= BURST_MS);
    // All that are kept may have come within a part of a span.
    const rateIn = (arrivals: readonly Arrival[], spanMs: number) =>
      arrivals.length / (arrivals.length === KEPT_ARRIVALS ? Math.max(1, nowMs - arrivals[0]!.atMs) : spanMs);
    stream.read = { atMs: nowMs, ratePerMs: Math.max(rateIn(recent, SPAN_MS), rateIn(lately, BURST_MS)), recent };
    if (recent.length === 0) this.#streams.delete(line);
    return stream.read;
  }
}

function createStream(): Stream {
  return {
    arrivals: [],
    read: { atMs: Number.NEGATIVE_INFINITY, ratePerMs: 0, recent: [] },
    sized: { atMs: Number.NEGATIVE_INFINITY, fullRows: 0, rows: 1 },
  };
}

/** Device time of an answer in a full batch. */
export function costMs(line: Line): number {
  const rows = fullRowsOf(line);
  return line.times.expectedMs(rows) / rows;
}
