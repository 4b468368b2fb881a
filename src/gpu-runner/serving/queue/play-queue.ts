import { LIMITS } from "../../../protocol/wire/limits.ts";
import { EVEN, type Level, levelOf, RECENT_SAMPLES, type ServiceTimes } from "./service-times.ts";

/** Requests that may share batches: of one variant, with tensors that differ in their rows alone. */
export interface Line {
  /** False where each request is a batch of its own. */
  readonly joins: boolean;
  /** What its batches take. */
  readonly times: Pick<ServiceTimes, "expectedMs" | "quantileMs" | "maxRows" | "notedAtMs">;
  /** The model that they ask for, whatever their tensors. */
  readonly modelKey?: string;
  /** Rows that several requests together may have; no cap where it is absent or null. One alone may bring more. */
  readonly maxRows?: number | null;
  /** Requests of the model that may wait and run, this line's next one among them; no cap where it is absent or null. */
  readonly maxInFlight?: number | null;
}

/** A request that waits for a device. */
export interface Waiting {
  readonly id: string;
  readonly line: Line;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** Higher goes first, whatever the deadlines. */
  readonly priority: number;
  /** How sure its answer has to be in time. */
  readonly level: Level;
  /** Items of the batch dimension that it brings, and bytes of its tensors. */
  readonly rows: number;
  readonly sizeBytes: number;
  /** Begun while there is time at all, whatever is known of the times: they are old. */
  readonly isTrial?: boolean;
}

/** What a device computes now. */
export interface Running {
  readonly line: Line;
  readonly rows: number;
  readonly startedMs: number;
  /** How many are computed together; one where it is absent. */
  readonly requests?: number;
}

/** A moment in the future of a device: when it is expected, and how far that may be off. */
interface Moment {
  atMs: number;
  /** Of what each batch before takes more or less by itself. */
  variance: number;
  /** One deviation of what they all take more or less alike, as their expectation is a mean of few. */
  commonMs: number;
  /** How many times as far off it may be as its deviations say. */
  readonly caution: number;
}

/** How a queue is expected to go on. */
interface Outcome<Work extends Waiting> {
  /** The first batch: it is safe together, but for a request that is not even safe alone. */
  readonly batch: readonly Work[];
  /** Those that will not be in time as surely as they have to. */
  readonly late: readonly Work[];
  /** When each is expected to be done, by its place in the queue; NaN for those that are not begun. */
  readonly endsMs: Float64Array;
  /** When all are. */
  readonly endMs: number;
}

/** How far behind its leader in the queue a batch looks for members; bounds what a decision costs. */
const HORIZON = 256;
/** Requests of other lines that keep a batch from growing. */
const OTHERS = 8;

/** Standard normal quantiles of the levels, from 0 (never above) to 0.999. */
const DEVIATIONS = [0, 0, 0.674, 1.282, 1.645, 2.054, 2.326, 2.576, 3.09];
const SURE = levelOf(0.99);

/**
 * Plays a queue through that is ordered by urgency: at each step the first request that waits leads a
 * batch. A batch takes what it is expected to; what comes before a request widens its spread as that of
 * independent normal times does (variances add). `leader` is the place in the queue of the first batch's
 * leader. Costs time in proportion to the queue, times `HORIZON` at worst.
 */
export function playQueue<Work extends Waiting>(
  order: readonly Work[],
  nowMs: number,
  running: Running | null,
  { leader = 0, caution = 1 }: { leader?: number; caution?: number } = {},
): Outcome<Work> {
  const moment: Moment = { ...endOf(running, nowMs), commonMs: 0, caution };
  const taken = new Uint8Array(order.length);
  const late: Work[] = [];
  const endsMs = new Float64Array(order.length).fill(Number.NaN);
  let batch: readonly Work[] = [];
  for (let next = leader, front = 0; front < order.length; next = front) {
    const head = order[next]!;
    taken[next] = 1;
    if (isHopeless(head, moment.atMs)) late.push(head);
    else {
      const { places, rows, isSafe } = growBatch(order, taken, next, moment);
      if (batch.length === 0) batch = places.map((place) => order[place]!);
      if (!isSafe) late.push(head);
      const deviationMs = deviationOf(head.line, rows);
      moment.atMs += head.line.times.expectedMs(rows);
      moment.variance += deviationMs ** 2;
      moment.commonMs += deviationMs / Math.sqrt(RECENT_SAMPLES);
      for (const place of places) endsMs[place] = moment.atMs;
    }
    while (taken[front] === 1) front++;
  }
  return { batch, late, endsMs, endMs: moment.atMs };
}

/** Whether it would rather be late than not if it began at this time; a trial only knows its deadline. */
function isHopeless({ line, rows, level, deadlineMs, isTrial = false }: Waiting, atMs: number): boolean {
  return atMs + (isTrial ? 0 : line.times.quantileMs(rows, Math.min(level, EVEN))) > deadlineMs;
}

/**
 * Grows a batch from its leader on, by urgency. It stays so small that each member is in time as surely
 * as it has to be, and that those of other lines which are more urgent than a further member still are.
 */
function growBatch(order: readonly Waiting[], taken: Uint8Array, leader: number, moment: Moment) {
  const head = order[leader]!;
  const { line } = head;
  const places = [leader];
  let { rows, sizeBytes } = head;
  const isSafe = moment.atMs + spanMs(head, rows, moment) <= head.deadlineMs;
  if (!line.joins || !isSafe) return { places, rows, isSafe };
  let limit = safeRows(head, rows, fullRowsOf(line), moment);
  let others = OTHERS;
  const end = Math.min(order.length, leader + HORIZON);
  for (let index = leader + 1; index < end && rows < limit; index++) {
    if (taken[index] === 1) continue;
    const each = order[index]!;
    if (each.line !== line) {
      if (others-- > 0) limit = rowsBefore(each, line, rows, limit, moment);
      continue;
    }
    const grown = rows + each.rows;
    if (grown > limit || sizeBytes + each.sizeBytes > LIMITS.batchBytes) continue;
    // What is safe for the head is safe for whoever is as sure and has as long.
    if (each.level > head.level || each.deadlineMs < head.deadlineMs) {
      const own = safeRows(each, grown, limit, moment);
      if (own < grown) continue;
      limit = own;
    }
    taken[index] = 1;
    places.push(index);
    rows = grown;
    sizeBytes += each.sizeBytes;
  }
  return { places, rows, isSafe };
}

/** Rows of a full batch: as many as are worth it, under its cap. */
export function fullRowsOf({ times, maxRows }: Line): number {
  return Math.min(times.maxRows, maxRows ?? Number.POSITIVE_INFINITY);
}

/** The largest batch, of `fewest` rows to `most`, in which a request is in time; less than `fewest` where none is. */
function safeRows(work: Waiting, fewest: number, most: number, moment: Moment): number {
  return largest(fewest, most, (rows) => moment.atMs + spanMs(work, rows, moment) <= work.deadlineMs);
}

/** The largest batch behind which a request of another line can begin in time; `most` where none is. */
function rowsBefore(other: Waiting, { times }: Line, fewest: number, most: number, moment: Moment): number {
  const startMs = other.deadlineMs - spanMs(other, other.rows, moment);
  const rows = largest(fewest, most, (each) => moment.atMs + times.expectedMs(each) <= startMs);
  return rows < fewest ? most : rows;
}

/** The last number from `low` to `high` for which something holds that stops holding once; less than `low` where it never does. */
function largest(low: number, high: number, holds: (value: number) => boolean): number {
  if (holds(high)) return high;
  let last = low - 1;
  let first = high;
  while (first - last > 1) {
    const middle = (last + first) >>> 1;
    if (holds(middle)) last = middle;
    else first = middle;
  }
  return last;
}

/** From the expected moment of a batch's start to the end that it stays under at the level of a member. */
function spanMs({ line, level }: Waiting, rows: number, { variance, commonMs, caution }: Moment): number {
  const expectedMs = line.times.expectedMs(rows);
  const ownMs = line.times.quantileMs(rows, level) - expectedMs;
  if (variance === 0 || ownMs < 0) return expectedMs + ownMs;
  return expectedMs + Math.sqrt(ownMs ** 2 + (caution * DEVIATIONS[level]!) ** 2 * (variance + commonMs ** 2));
}

/** The standard deviation of a normal time with the same distance from its expectation to its 0.99 quantile. */
function deviationOf({ times }: Line, rows: number): number {
  return Math.max(0, times.quantileMs(rows, SURE) - times.expectedMs(rows)) / DEVIATIONS[SURE]!;
}

/** When a device is done. What is overdue is taken to need as long again as it is overdue: nobody knows. */
function endOf(running: Running | null, nowMs: number): Pick<Moment, "atMs" | "variance"> {
  if (running === null) return { atMs: nowMs, variance: 0 };
  const { line, rows, startedMs } = running;
  const overdueMs = Math.max(0, nowMs - startedMs - line.times.quantileMs(rows, SURE));
  const atMs = Math.max(startedMs + line.times.expectedMs(rows), nowMs + overdueMs);
  return { atMs, variance: overdueMs > 0 ? 0 : deviationOf(line, rows) ** 2 };
}

export interface BatchPlan<Work extends Waiting> {
  /** Requests that would rather be late than not even if they were alone and began now. */
  readonly doomed: readonly Work[];
  /** Requests to compute now, together; empty where nothing is left to do. */
  readonly batch: readonly Work[];
  /** How long the batch and what waits behind it are expected to take. */
  readonly backlogMs: number;
}

/** Leaders of a batch that are compared where not all can be in time, by their place in the queue. */
const LEADERS = [1, 2, 4, 8, 16];

/**
 * Chooses what an idle device computes next, of a queue that is ordered by urgency: by priority, then
 * earliest deadline first, which serves all in time wherever that is possible without batches (Liu and
 * Layland, 1973). Where not all can be in time, the earliest deadline leaves room for small batches only
 * and would drag the others down with it: then some later leaders are tried, too, the queue is played
 * through for each, and the one with most answers in time wins (as Nexus' early drop, Shen et al., SOSP
 * 2019, but by playing instead of a fixed window).
 */
export function planBatch<Work extends Waiting>(order: readonly Work[], nowMs: number): BatchPlan<Work> {
  const doomed = order.filter((each) => isHopeless(each, nowMs));
  const viable = doomed.length === 0 ? order : order.filter((each) => !isHopeless(each, nowMs));
  let best: Outcome<Work> = playQueue(viable, nowMs, null);
  if (best.late.length > 0) {
    for (const leader of LEADERS) {
      // A later leader may not push aside what is more important.
      if (viable[leader]?.priority !== viable[0]?.priority) break;
      const tried = playQueue(viable, nowMs, null, { leader });
      if (tried.late.length < best.late.length) best = tried;
    }
  }
  return { doomed, batch: best.batch, backlogMs: best.endMs - nowMs };
}
