import { LIMITS } from "../../../protocol/wire/limits.ts";
import { fullRowsOf, type Line, playQueue, type Running, type Waiting } from "./play-queue.ts";

interface Urgent {
  readonly id: string;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** Higher goes first, whatever the deadlines. */
  readonly priority: number;
}

/** By priority, then deadline; equal ones by their ids, so that a decision depends on nothing else. */
export function byUrgency(a: Urgent, b: Urgent): number {
  return b.priority - a.priority || a.deadlineMs - b.deadlineMs || (a.id < b.id ? -1 : 1);
}

/** A queue that is ordered by urgency, with one more in its place. */
export function insertByUrgency<Work extends Urgent>(order: readonly Work[], work: Work): readonly Work[] {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byUrgency(order[middle]!, work) < 0) low = middle + 1;
    else high = middle;
  }
  return order.toSpliced(low, 0, work);
}

/** What becomes of a request that has just come. */
export type Verdict<Work extends Waiting> =
  /** It waits from now on. What had to make room for it is less important, and is not in the queue any more. */
  | {
      readonly kind: "admitted";
      readonly order: readonly Work[];
      readonly pushedOut: readonly Work[];
      /** How long everything is expected to take now. */
      readonly backlogMs: number;
    }
  /** Nothing says that it can be in time, but nothing new does: it may find out. */
  | { readonly kind: "trial" }
  /** It could not be in time even if nothing else were there. */
  | { readonly kind: "doomed" }
  /** There is no room, or it would be late or make another one late. */
  | { readonly kind: "overloaded"; readonly reason: string; readonly backlogMs: number };

/** An idle device that was silent for so long may try what its times say it cannot do. */
const TRIAL_AFTER_MS = 100;
/**
 * How many times as far off the times of what is before a request may be. Once would do for one look into
 * the future; but whoever comes later eats what time was left again, until something is slow.
 */
const CAUTION = 1.25;
/** Batches that wait when each newcomer has to have room for a full one. */
const BATCHES_UNTIL_ROOM = 3;

/**
 * Decides on arrival: a request that is let in is to be in time, and so are those that were let in before
 * it, so the queue is played through with it. One of higher priority may push out others; else nobody who
 * was safe without it may be late with it.
 */
export function judgeArrival<Work extends Waiting>(
  order: readonly Work[],
  newcomer: Work,
  nowMs: number,
  running: Running | null,
): Verdict<Work> {
  const { line, rows, level, deadlineMs, priority } = newcomer;
  if (nowMs + line.times.quantileMs(rows, level) > deadlineMs) {
    const isIdle = order.length === 0 && running === null;
    const isTrial = isIdle && nowMs < deadlineMs && nowMs - line.times.notedAtMs > TRIAL_AFTER_MS;
    return { kind: isTrial ? "trial" : "doomed" };
  }
  const { kept, pushedOut } = makeRoom(order, newcomer, running);
  const reason = isModelFull(kept, newcomer, running)
    ? "As many requests of the model are in flight as may be."
    : isFull(kept, newcomer)
      ? "As much waits for the device as may."
      : null;
  if (reason !== null) {
    const backlogMs = playQueue(order, nowMs, running).endMs - nowMs;
    return { kind: "overloaded", reason, backlogMs };
  }
  const grown = insertByUrgency(kept, newcomer);
  const options = { caution: CAUTION };
  const { late, endsMs, endMs } = playQueue(grown, nowMs, running, options);
  const backlogMs = endMs - nowMs;
  if (late.includes(newcomer) || endsMs[grown.indexOf(newcomer)]! + roomMs(kept, line) > deadlineMs) {
    return { kind: "overloaded", reason: "What waits already leaves too little of the budget.", backlogMs };
  }
  if (late.length === 0) return { kind: "admitted", order: grown, pushedOut, backlogMs };
  const before = playQueue(kept, nowMs, running, options).endsMs;
  const place = grown.indexOf(newcomer);
  const isHarmed = (each: Work, at: number) => {
    const beforeMs = before[at < place ? at : at - 1]!;
    // Who is lost anyway holds up nobody, and who is done as early as before has nothing to complain of.
    return beforeMs <= each.deadlineMs && !(endsMs[at]! <= beforeMs);
  };
  const isLate = new Set(late);
  const harmed = grown.filter((each, at) => each !== newcomer && isLate.has(each) && isHarmed(each, at));
  if (harmed.some((each) => each.priority >= priority)) {
    return { kind: "overloaded", reason: "It would make others late that came before it.", backlogMs };
  }
  const out = new Set(harmed);
  return {
    kind: "admitted",
    order: grown.filter((each) => !out.has(each)),
    pushedOut: [...pushedOut, ...harmed],
    backlogMs,
  };
}

/**
 * What a request has to have left at its expected end: nothing while one batch takes all that waits, the
 * time of a full batch once three do not, and in between in proportion. Who is let in without it leads a
 * batch when there is time for a small one only; a queue of such requests is computed in small batches,
 * which cost most a row, and have nothing to spare when the device stalls.
 */
function roomMs(order: readonly Waiting[], line: Line): number {
  if (!line.joins) return 0;
  const fullRows = fullRowsOf(line);
  const share = (order.length / fullRows - 1) / (BATCHES_UNTIL_ROOM - 1);
  return share <= 0 ? 0 : Math.min(1, share) * line.times.expectedMs(fullRows);
}

/**
 * Leaves out the least urgent ones of lower priority, as long as there are too many: first of the newcomer's
 * model, as long as that is at its cap, then of all, as long as the queue is full.
 */
function makeRoom<Work extends Waiting>(order: readonly Work[], newcomer: Work, running: Running | null) {
  let kept = order;
  while (isModelFull(kept, newcomer, running)) {
    const last = kept.findLastIndex((each) => isSameModel(each, newcomer) && each.priority < newcomer.priority);
    if (last < 0) return { kept: order, pushedOut: [] };
    kept = kept.toSpliced(last, 1);
  }
  while (isFull(kept, newcomer) && (kept.at(-1)?.priority ?? Infinity) < newcomer.priority) kept = kept.slice(0, -1);
  const left = new Set(kept);
  return { kept, pushedOut: order.filter((each) => !left.has(each)) };
}

/** Whether as many requests of the newcomer's model wait and run as may. */
function isModelFull(order: readonly Waiting[], newcomer: Waiting, running: Running | null): boolean {
  const most = newcomer.line.maxInFlight ?? null;
  if (most === null) return false;
  let inFlight = running !== null && isSameModel(running, newcomer) ? (running.requests ?? 1) : 0;
  for (const each of order) if (isSameModel(each, newcomer)) inFlight++;
  return inFlight >= most;
}

function isSameModel(one: Pick<Waiting, "line">, other: Waiting): boolean {
  return one.line.modelKey === other.line.modelKey;
}

function isFull(order: readonly Waiting[], newcomer: Waiting): boolean {
  if (order.length >= LIMITS.deviceQueueRequests) return true;
  let sizeBytes = newcomer.sizeBytes;
  for (const each of order) sizeBytes += each.sizeBytes;
  return sizeBytes > LIMITS.deviceQueueBytes;
}

/**
 * Who was refused since the last batch began. Until the next one begins a queue only grows, so whoever is no
 * better off than a refused one is refused, too, and nothing has to be played for it: of the same line,
 * with as many rows, no later a deadline, no higher a priority, and to be as sure.
 */
export class RefusalMemory {
  /** Of each line the one with the latest deadline. */
  readonly #refused = new Map<Line, Waiting>();

  note(refused: Waiting): void {
    const known = this.#refused.get(refused.line);
    if (known === undefined || known.deadlineMs <= refused.deadlineMs) this.#refused.set(refused.line, refused);
  }

  covers({ line, rows, deadlineMs, priority, level }: Waiting): boolean {
    const known = this.#refused.get(line);
    return (
      known !== undefined &&
      rows >= known.rows &&
      deadlineMs <= known.deadlineMs &&
      priority <= known.priority &&
      level >= known.level
    );
  }

  clear(): void {
    this.#refused.clear();
  }
}
