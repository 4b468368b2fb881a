import { type Costly, type Expected, fullRowsOf, type Line, type Waiting } from "./play-queue.ts";
import { SURE } from "./service-times.ts";

/** Arrivals of a line that stand for the next ones: so many, none older than this; and most lines with some. */
const KEPT_ARRIVALS = 64;
const SPAN_MS = 1_000;
const KEPT_LINES = 64;
/** A burst counts as soon as it fills this span with so many arrivals: fewer are no rate. */
const BURST_MS = 100;
const BURST_FROM = 4;
/** Age at which what was read of a line is read again. */
const FRESH_MS = 10;
/** Most of a device's time that is kept free for work to come. */
const MOST_KEPT_FREE = 0.9;
/** Gain for which a batch is made larger: less is noise. */
const LEAST_GAIN = 0.03;

type Arrival = Pick<Waiting, "priority" | "rows"> & { readonly atMs: number; readonly budgetMs: number };

/** Lines of one tenant; the one that came last is the last. */
type Streams = Map<Line, Stream>;

interface Stream {
  /** Oldest first. */
  readonly arrivals: Arrival[];
  read: {
    readonly atMs: number;
    readonly ratePerMs: number;
    /** Rows of a request, on average. */
    readonly meanRows: number;
    readonly recent: readonly Arrival[];
  };
  sized: { readonly atMs: number; readonly fullRows: number; readonly rows: number };
}

/**
 * Recent arrivals at a device by line, whether admitted or refused. The next ones are expected to be like them. So a
 * plan knows what its batches will keep waiting, and what room to leave.
 * Lines compete by what they earn: answers per millisecond of the device, in the batches that are cheapest by row. All
 * that another tenant may ask for counts as no more than its equal share of the device.
 */
export class Traffic {
  /** By tenant. */
  readonly #tenants = new Map<number | undefined, Streams>();

  note({ line, deadlineMs, priority, rows }: Waiting, nowMs: number): void {
    const streams: Streams = this.#tenants.get(line.tenant) ?? new Map<Line, Stream>();
    this.#tenants.set(line.tenant, streams);
    const stream = streams.get(line) ?? createStream();
    streams.delete(line);
    streams.set(line, stream);
    // Callers choose the shapes that make lines: the tenant with most of them loses one.
    dropBeyond(KEPT_LINES, this.#tenants);
    stream.arrivals.push({ atMs: nowMs, budgetMs: deadlineMs - nowMs, priority, rows });
    if (stream.arrivals.length > KEPT_ARRIVALS) stream.arrivals.shift();
  }

  expectedAt(nowMs: number): Expected {
    return {
      rowsOf: (line) => this.#rowsOf(line, nowMs),
      shareAbove: (newcomer, goesNoLater) => this.#shareAbove(newcomer, goesNoLater, nowMs),
    };
  }

  /**
   * Size of a batch with most answers a millisecond, less those that others lose by it. One size beyond the measured ones
   * is tried where the largest of those is the best.
   */
  #rowsOf(line: Line, nowMs: number): number {
    const fullRows = fullRowsOf(line);
    const stream = this.#streamOf(line);
    const sized = stream?.sized;
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
    const own = this.#streamOf(line);
    const answers = rows / (own === undefined ? 1 : this.#read(line, own, nowMs).meanRows);
    let lost = 0;
    for (const [tenant, streams] of this.#tenants) {
      let lostToTenant = 0;
      for (const [other, stream] of streams) {
        if (other === line) continue;
        const { ratePerMs, recent } = this.#read(other, stream, nowMs);
        const rowMs = rowCostMs(other);
        let worthMs = 0;
        for (const each of recent) {
          const worth = Math.max(0, 1 - (answers / runMs) * each.rows * rowMs);
          // It is lost if it comes in the first part of the run, which is as long as it cannot wait.
          const lostMs = runMs + other.times.quantileMs(each.rows, SURE) - each.budgetMs;
          worthMs += worth * Math.max(0, Math.min(runMs, lostMs));
        }
        if (worthMs > 0) lostToTenant += (ratePerMs * worthMs) / recent.length;
      }
      if (lostToTenant > 0) lost += lostToTenant * (tenant === line.tenant ? 1 : this.#entitledPart(streams, nowMs));
    }
    return (answers - lost) / runMs;
  }

  /** Part of a tenant's expected work that fits into its equal share of the device. */
  #entitledPart(streams: Streams, nowMs: number): number {
    let share = 0;
    for (const [line, stream] of streams) {
      const { ratePerMs, meanRows } = this.#read(line, stream, nowMs);
      share += ratePerMs * meanRows * rowCostMs(line);
    }
    return Math.min(1, 1 / (this.#tenants.size * share));
  }

  /**
   * Share of the device's time for expected requests of other lines that earn more: of its tenant of its priority at
   * least, of others whose next ones go no later.
   */
  #shareAbove(newcomer: Costly, goesNoLater: (tenant: number | undefined) => boolean, nowMs: number): number {
    const ownMs = costMs(newcomer);
    const { line: own, priority: least } = newcomer;
    let share = 0;
    for (const [tenant, streams] of this.#tenants) {
      const isOwn = tenant === own.tenant;
      if (!isOwn && !goesNoLater(tenant)) continue;
      let tenantShare = 0;
      for (const [other, stream] of streams) {
        if (other === own) continue;
        const { ratePerMs, recent } = this.#read(other, stream, nowMs);
        const rowMs = rowCostMs(other);
        let countedMs = 0;
        for (const { priority, rows } of recent) {
          if ((!isOwn || priority >= least) && rows * rowMs < ownMs) countedMs += rows * rowMs;
        }
        if (countedMs > 0) tenantShare += (ratePerMs * countedMs) / recent.length;
      }
      share += isOwn ? tenantShare : Math.min(tenantShare, 1 / this.#tenants.size);
    }
    return Math.min(MOST_KEPT_FREE, share);
  }

  #streamOf(line: Line): Stream | undefined {
    return this.#tenants.get(line.tenant)?.get(line);
  }

  #read(line: Line, stream: Stream, nowMs: number): Stream["read"] {
    if (nowMs - stream.read.atMs < FRESH_MS) return stream.read;
    const recent = stream.arrivals.filter(({ atMs }) => nowMs - atMs <= SPAN_MS);
    const lately = recent.filter(({ atMs }) => nowMs - atMs <= BURST_MS);
    // All that are kept may have come within a part of a span.
    const rateIn = (arrivals: readonly Arrival[], spanMs: number) =>
      arrivals.length / (arrivals.length === KEPT_ARRIVALS ? Math.max(1, nowMs - arrivals[0]!.atMs) : spanMs);
    const burstPerMs = lately.length < BURST_FROM ? 0 : rateIn(lately, BURST_MS);
    const meanRows = recent.reduce((sum, { rows }) => sum + rows, 0) / recent.length || 1;
    stream.read = { atMs: nowMs, ratePerMs: Math.max(rateIn(recent, SPAN_MS), burstPerMs), meanRows, recent };
    if (recent.length === 0) this.#forget(line);
    return stream.read;
  }

  #forget(line: Line): void {
    const streams = this.#tenants.get(line.tenant);
    streams?.delete(line);
    if (streams?.size === 0) this.#tenants.delete(line.tenant);
  }
}

/** Removes the first entry of the largest map while there are more than so many in all. */
export function dropBeyond(most: number, maps: ReadonlyMap<unknown, Map<unknown, unknown>>): void {
  let count = 0;
  let largest = new Map<unknown, unknown>();
  for (const map of maps.values()) {
    count += map.size;
    if (map.size > largest.size) largest = map;
  }
  if (count > most) largest.delete(largest.keys().next().value);
}

function createStream(): Stream {
  return {
    arrivals: [],
    read: { atMs: Number.NEGATIVE_INFINITY, ratePerMs: 0, meanRows: 1, recent: [] },
    sized: { atMs: Number.NEGATIVE_INFINITY, fullRows: 0, rows: 1 },
  };
}

/** Device time of an answer, at that of its rows in full batches. */
export function costMs({ line, rows }: Pick<Waiting, "line" | "rows">): number {
  return rows * rowCostMs(line);
}

function rowCostMs(line: Line): number {
  const rows = fullRowsOf(line);
  return line.times.expectedMs(rows) / rows;
}
