import { LIMITS } from "../../../protocol/wire/limits.ts";
import { EVEN, type Level, RECENT_SAMPLES, type ServiceTimes, SURE } from "./service-times.ts";
import { type Arrange, type Arranged, byUrgencyAlone } from "./urgency.ts";

/** Requests that may share batches: of one variant, with tensors that differ in their rows alone. */
export interface Line {
  /** False where each request is a batch of its own. */
  readonly joins: boolean;
  /** Times of its batches. */
  readonly times: Pick<ServiceTimes, "expectedMs" | "quantileMs" | "maxRows" | "measuredRows" | "notedAtMs">;
  /** Model of the requests, whatever their tensors. */
  readonly modelKey?: string;
  /** Number of the model's project; absent from an older edge. */
  readonly tenant?: number | undefined;
  /** Most rows of several requests together; no cap where absent or null. A single request may have more. */
  readonly maxRows?: number | null;
  /** Most waiting and running requests of the model, this line's next one included; no cap where absent or null. */
  readonly maxInFlight?: number | null;
}

/** Request that waits for a device. */
export interface Waiting {
  readonly id: string;
  readonly line: Line;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** Of the requests of a tenant the higher one goes first, whatever the deadlines; negative for a probe. */
  readonly priority: number;
  /** Required confidence that its answer is in time. */
  readonly level: Level;
  /** Items of the batch dimension, and bytes of its tensors. */
  readonly rows: number;
  readonly sizeBytes: number;
  /** Line whose old times a trial renews; it waits in a line of its own, as if nothing were known. */
  readonly trialOf?: Line;
}

/** What a request's worth is compared by. */
export type Costly = Pick<Waiting, "line" | "rows" | "priority">;

/** What is expected of further arrivals. */
export interface Expected {
  /** Most rows of a batch of a line that are worthwhile. */
  readonly rowsOf: (line: Line) => number;
  /**
   * Share of the device's time to keep free for requests of other lines that earn more than one and go no later:
   * `goesNoLater` says so of the next ones of another tenant.
   */
  readonly shareAbove: (newcomer: Costly, goesNoLater: (tenant: number | undefined) => boolean) => number;
}

/** No arrivals. */
export const NOTHING: Expected = { rowsOf: fullRowsOf, shareAbove: () => 0 };

/** Current work of a device. */
export interface Running {
  readonly line: Line;
  readonly rows: number;
  readonly startedMs: number;
  /** Number of requests in the batch; one by default. */
  readonly requests?: number;
  readonly trialOf?: Line;
}

/** Future moment of a device: expected time and uncertainty. */
interface Moment {
  atMs: number;
  /** Independent variation of each earlier batch. */
  variance: number;
  /** One deviation of their common error, as their expectation is a mean of few samples. */
  commonMs: number;
}

/** Forecast of a queue. */
interface Outcome<Work extends Waiting> {
  /** First batch: safe together, unless a request is not even safe alone. */
  readonly batch: readonly Work[];
  /** Requests that will not be in time with the required confidence. */
  readonly late: readonly Work[];
  /** Expected end of each, by its place in the queue; NaN for those that do not begin. */
  readonly endsMs: Float64Array;
  /** Expected end of all. */
  readonly endMs: number;
}

/** Distance behind its leader in the queue within which a batch looks for members; bounds the cost of a decision. */
const HORIZON = 256;
/** Number of requests of other lines that limit a batch's growth. */
const OTHERS = 8;

/** Standard normal quantiles of the levels, from 0 (never above) to 0.999. */
const DEVIATIONS = [0, 0, 0.674, 1.282, 1.645, 2.054, 2.326, 2.576, 3.09];

/** How a queue is played. */
export interface PlayOptions {
  /** Place in the queue of the first batch's leader. */
  readonly leader?: number;
  /** Factor on the uncertainty of the work that waits. */
  readonly caution?: number;
  /** Factor on its time, to leave room for work to come. */
  readonly stretch?: number;
  readonly rowsOf?: Expected["rowsOf"];
}

/**
 * Simulates a queue in the order in which it is served: at each step the first waiting request leads a batch. A batch takes its
 * expected time; the work before a request widens its uncertainty like independent normal times (variances add).
 * Costs time in proportion to the queue, times `HORIZON` at worst.
 */
export function playQueue<Work extends Waiting>(
  order: readonly Work[],
  nowMs: number,
  running: Running | null,
  { leader = 0, caution = 1, stretch = 1, rowsOf = fullRowsOf }: PlayOptions = {},
): Outcome<Work> {
  const moment: Moment = { ...endOf(running, nowMs), commonMs: 0 };
  const taken = new Uint8Array(order.length);
  const late: Work[] = [];
  const endsMs = new Float64Array(order.length).fill(Number.NaN);
  let batch: readonly Work[] = [];
  for (let next = leader, front = 0; front < order.length; next = front) {
    const head = order[next]!;
    taken[next] = 1;
    if (isHopeless(head, moment.atMs)) late.push(head);
    else {
      const { places, rows, isSafe } = growBatch(order, taken, next, moment, rowsOf);
      if (batch.length === 0) batch = places.map((place) => order[place]!);
      if (!isSafe) late.push(head);
      const deviationMs = caution * deviationOf(head.line, rows);
      moment.atMs += stretch * head.line.times.expectedMs(rows);
      moment.variance += deviationMs ** 2;
      moment.commonMs += deviationMs / Math.sqrt(RECENT_SAMPLES);
      for (const place of places) endsMs[place] = moment.atMs;
    }
    while (taken[front] === 1) front++;
  }
  return { batch, late, endsMs, endMs: moment.atMs };
}

/** Whether it would more likely than not be late if it began at this time. */
function isHopeless({ line, rows, level, deadlineMs }: Waiting, atMs: number): boolean {
  return atMs + line.times.quantileMs(rows, Math.min(level, EVEN)) > deadlineMs;
}

/**
 * Grows a batch from its leader on, by urgency. It stays small enough that each member is in time with its required
 * confidence, and that more urgent requests of other lines still are.
 */
function growBatch(
  order: readonly Waiting[],
  taken: Uint8Array,
  leader: number,
  moment: Moment,
  rowsOf: Expected["rowsOf"],
) {
  const head = order[leader]!;
  const { line } = head;
  const places = [leader];
  let { rows, sizeBytes } = head;
  const isSafe = moment.atMs + spanMs(head, rows, moment) <= head.deadlineMs;
  if (!line.joins || !isSafe) return { places, rows, isSafe };
  let limit = safeRows(head, rows, Math.max(rows, rowsOf(line)), moment);
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
    // A size that is safe for the head is safe for members with no higher level and no earlier deadline.
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

/** Rows of a full batch: the most that are worthwhile, under its cap. */
export function fullRowsOf({ times, maxRows }: Line): number {
  return Math.min(times.maxRows, maxRows ?? Number.POSITIVE_INFINITY);
}

/** Largest batch, of `fewest` rows to `most`, in which a request is in time; less than `fewest` where none is. */
function safeRows(work: Waiting, fewest: number, most: number, moment: Moment): number {
  return largest(fewest, most, (rows) => moment.atMs + spanMs(work, rows, moment) <= work.deadlineMs);
}

/** Largest batch after which a request of another line can begin in time; `most` where none is. */
function rowsBefore(other: Waiting, { times }: Line, fewest: number, most: number, moment: Moment): number {
  const startMs = other.deadlineMs - spanMs(other, other.rows, moment);
  const rows = largest(fewest, most, (each) => moment.atMs + times.expectedMs(each) <= startMs);
  return rows < fewest ? most : rows;
}

/** Last number from `low` to `high` for which a monotonic condition holds; less than `low` where it never does. */
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

/** Time from the expected start of a batch to an end that holds at a member's level. */
function spanMs({ line, level }: Waiting, rows: number, { variance, commonMs }: Moment): number {
  const expectedMs = line.times.expectedMs(rows);
  const ownMs = line.times.quantileMs(rows, level) - expectedMs;
  if (variance === 0 || ownMs < 0) return expectedMs + ownMs;
  return expectedMs + Math.sqrt(ownMs ** 2 + DEVIATIONS[level]! ** 2 * (variance + commonMs ** 2));
}

/** Standard deviation of a normal time with the same distance from its expectation to its 0.99 quantile. */
function deviationOf({ times }: Line, rows: number): number {
  return Math.max(0, times.quantileMs(rows, SURE) - times.expectedMs(rows)) / DEVIATIONS[SURE]!;
}

/** Expected end of a device's work. Overdue work is assumed to need as long again as it is overdue. */
function endOf(running: Running | null, nowMs: number): Pick<Moment, "atMs" | "variance"> {
  if (running === null) return { atMs: nowMs, variance: 0 };
  const { line, rows, startedMs } = running;
  const overdueMs = Math.max(0, nowMs - startedMs - line.times.quantileMs(rows, SURE));
  const atMs = Math.max(startedMs + line.times.expectedMs(rows), nowMs + overdueMs);
  return { atMs, variance: overdueMs > 0 ? 0 : deviationOf(line, rows) ** 2 };
}

export interface BatchPlan<Work extends Waiting> {
  /** Requests that would more likely than not be late even if they were alone and began now. */
  readonly doomed: readonly Work[];
  /** Requests to compute together now; empty where none are left. */
  readonly batch: readonly Work[];
  /** Expected time of the batch and of the work after it that goes before a tenant's next request. */
  readonly backlogMs: (tenant: number | undefined) => number;
}

/** Batch leaders that are compared where not all can be in time, by their place in the queue. */
const LEADERS = [1, 2, 4, 8, 16];

/**
 * Chooses the next batch of an idle device from a queue that is arranged without its doomed requests: earliest deadline
 * first, which serves all in time wherever that is possible without batches. Where not all can be in time, the earliest
 * deadline leaves room for small batches only and would make the others late too. Then some later leaders are tried,
 * the queue is simulated for each, and the one with most answers in time wins. This is Nexus' early drop, with a
 * simulation instead of a fixed window.
 * Source: Liu and Layland, 1973 (earliest deadline first); Shen et al., SOSP 2019 (Nexus).
 */
export function planBatch<Work extends Waiting>(
  order: readonly Work[],
  nowMs: number,
  { rowsOf }: Expected = NOTHING,
  arrange: Arrange = byUrgencyAlone,
): BatchPlan<Work> {
  const doomed = order.filter((each) => isHopeless(each, nowMs));
  const viable = arrange(doomed.length === 0 ? order : order.filter((each) => !isHopeless(each, nowMs)));
  let best: Outcome<Work> = playQueue(viable.order, nowMs, null, { rowsOf });
  if (best.late.length > 0) {
    for (const leader of LEADERS) {
      if (!mayLead(viable, leader)) break;
      const tried = playQueue(viable.order, nowMs, null, { leader, rowsOf });
      if (tried.late.length < best.late.length) best = tried;
    }
  }
  return { doomed, batch: best.batch, backlogMs: (tenant) => endBefore(viable, tenant, best, nowMs) - nowMs };
}

/**
 * Whether the request in this place may go first: all that it would overtake are no more important ones of its tenant, or
 * have the same turn.
 */
function mayLead<Work extends Waiting>({ order, isShared, turnOf }: Arranged<Work>, place: number): boolean {
  const leader = order[place];
  if (leader === undefined) return false;
  if (!isShared) return leader.priority === order[0]!.priority;
  const mayOvertake = (each: Work) =>
    turnOf(each) === turnOf(leader) && (each.line.tenant !== leader.line.tenant || each.priority === leader.priority);
  return order.slice(0, place).every(mayOvertake);
}

/** Expected end of the first batch, and of the work that goes before a tenant's next request. */
export function endBefore<Work extends Waiting>(
  { order, isShared, turnOf, nextTurnOf }: Arranged<Work>,
  tenant: number | undefined,
  { batch, endsMs, endMs }: Outcome<Work>,
  nowMs: number,
): number {
  if (!isShared && order[0]?.line.tenant === tenant) return endMs;
  const turn = nextTurnOf(tenant);
  const later = order.findIndex((work) => turnOf(work) > turn);
  if (later < 0) return endMs;
  const [leader] = batch;
  let latestMs = leader === undefined ? nowMs : endsMs[order.indexOf(leader)]!;
  // Those that never begin have no end.
  for (const each of endsMs.subarray(0, later)) if (each > latestMs) latestMs = each;
  return latestMs;
}
