import { LIMITS } from "../../../protocol/wire/limits.ts";
import {
  type Expected,
  type Line,
  NOTHING,
  type PlayOptions,
  playQueue,
  type Running,
  type Waiting,
} from "./play-queue.ts";

interface Urgent {
  readonly id: string;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** Higher goes first, whatever the deadlines. */
  readonly priority: number;
}

/** Order by priority, then deadline, then id, so that a decision depends on nothing else. */
export function byUrgency(a: Urgent, b: Urgent): number {
  return b.priority - a.priority || a.deadlineMs - b.deadlineMs || (a.id < b.id ? -1 : 1);
}

/** Inserts one more request into a queue that is ordered by urgency. */
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

/** Verdict on a new request. */
export type Verdict<Work extends Waiting> =
  /** Accepted. Requests of lower priority that made room for it are no longer in the queue. */
  | {
      readonly kind: "admitted";
      readonly order: readonly Work[];
      readonly pushedOut: readonly Work[];
      /** Expected time of all work now. */
      readonly backlogMs: number;
    }
  /** Accepted as a trial: old times say that it would be late, and its run renews them. */
  | { readonly kind: "trial" }
  /** It would be late even on an idle device. */
  | { readonly kind: "doomed" }
  /** The queue is full, or it would be late or make another one late. */
  | { readonly kind: "overloaded"; readonly reason: string; readonly backlogMs: number };

/** Age of a line's times, and of the device's last trial, from which a request may be tried that they exclude. */
const TRIAL_AFTER_MS = 100;
/** Most of the device's time for trials while other work is there, should they last as long as ever. */
const TRIAL_SHARE = 0.05;
/**
 * Safety factor on the deviation of the work before a request. A factor of one is right for a single forecast, but
 * later arrivals use up the slack again, until something is slow.
 */
const CAUTION = 1.25;
/** Number of waiting batches from which each new request must leave room for a full one. */
const BATCHES_UNTIL_ROOM = 3;

/**
 * Decides on arrival: an accepted request must be in time, and so must all accepted before it. The queue is simulated
 * with it. A request of higher priority may displace others; otherwise none that was safe may become late. `lastTrialMs`
 * is when the device last accepted a trial.
 */
export function judgeArrival<Work extends Waiting>(
  order: readonly Work[],
  newcomer: Work,
  nowMs: number,
  running: Running | null,
  { rowsOf, shareAbove }: Expected = NOTHING,
  lastTrialMs = Number.NEGATIVE_INFINITY,
): Verdict<Work> {
  const { line, rows, level, deadlineMs, priority } = newcomer;
  if (nowMs + line.times.quantileMs(rows, level) > deadlineMs) {
    const hasPlace = !isModelFull(order, newcomer, running) && !isFull(order, newcomer);
    return { kind: hasPlace && isTrialDue(order, newcomer, nowMs, running, lastTrialMs) ? "trial" : "doomed" };
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
  const plain = forecast(kept, grown, newcomer, nowMs, running, { caution: CAUTION, rowsOf });
  const { backlogMs } = plain;
  const share = shareAbove(newcomer);
  const forecasts = [plain];
  const isIdle = kept.length === 0 && running === null;
  // Once more with room for work to come, which interrupts nothing that begins now. Such a plan alone would leave out
  // others that it takes to be late.
  if (share > 0 && !plain.isLate && !isIdle) {
    const stretch = 1 / (1 - share);
    forecasts.push(forecast(kept, grown, newcomer, nowMs, running, { caution: CAUTION, rowsOf, stretch }));
  }
  if (forecasts.some(({ isLate }) => isLate)) {
    return { kind: "overloaded", reason: "The queue leaves too little of the budget.", backlogMs };
  }
  if (forecasts.some(({ harmed }) => harmed.some((each) => each.priority >= priority))) {
    return { kind: "overloaded", reason: "It would make others late that came before it.", backlogMs };
  }
  // The room for what may never come costs no accepted request its place.
  const harmed = new Set(plain.harmed);
  return {
    kind: "admitted",
    order: harmed.size === 0 ? grown : grown.filter((each) => !harmed.has(each)),
    pushedOut: harmed.size === 0 ? pushedOut : [...pushedOut, ...harmed],
    backlogMs,
  };
}

/** Effect of a newcomer on a queue: whether it would be late itself, and the others that it would make late. */
function forecast<Work extends Waiting>(
  kept: readonly Work[],
  grown: readonly Work[],
  newcomer: Work,
  nowMs: number,
  running: Running | null,
  options: PlayOptions & Pick<Expected, "rowsOf">,
): { readonly isLate: boolean; readonly harmed: readonly Work[]; readonly backlogMs: number } {
  const { late, endsMs, endMs } = playQueue(grown, nowMs, running, options);
  const place = grown.indexOf(newcomer);
  const isLate =
    late.includes(newcomer) || endsMs[place]! + roomMs(kept, newcomer.line, options.rowsOf) > newcomer.deadlineMs;
  if (isLate || late.length === 0) return { isLate, harmed: [], backlogMs: endMs - nowMs };
  const before = playQueue(kept, nowMs, running, options).endsMs;
  const isHarmed = (each: Work, at: number) => {
    const beforeMs = before[at < place ? at : at - 1]!;
    // Requests that are late anyway, or end no later than before, are not harmed.
    return beforeMs <= each.deadlineMs && !(endsMs[at]! <= beforeMs);
  };
  const lateOnes = new Set(late);
  const harmed = grown.filter((each, at) => each !== newcomer && lateOnes.has(each) && isHarmed(each, at));
  return { isLate, harmed, backlogMs: endMs - nowMs };
}

/**
 * Whether a request that its line's times exclude is tried all the same. Nothing else would renew these times where
 * they exclude every request. One trial of a device at a time; behind other work more seldom, since it may make that late.
 * Callers choose the shapes that make lines, so the pauses are the device's, too.
 */
function isTrialDue(
  order: readonly Waiting[],
  { line, rows, deadlineMs }: Waiting,
  nowMs: number,
  running: Running | null,
  lastTrialMs: number,
) {
  const isIdle = order.length === 0 && running === null;
  const restMs = isIdle ? TRIAL_AFTER_MS : Math.max(TRIAL_AFTER_MS, line.times.expectedMs(rows) / TRIAL_SHARE);
  const isTrying = running?.trialOf !== undefined || order.some(({ trialOf }) => trialOf !== undefined);
  return nowMs < deadlineMs && !isTrying && nowMs - Math.max(line.times.notedAtMs, lastTrialMs) > restMs;
}

/**
 * Time that a request must have left at its expected end: none while one batch takes all that waits, the time of a full
 * batch from three on, and proportional in between. Without this, a request leads a batch when there is time for a
 * small one only. A queue of such requests runs in small batches, which cost most per row and leave no slack when the
 * device stalls.
 */
function roomMs(order: readonly Waiting[], line: Line, rowsOf: Expected["rowsOf"]): number {
  if (!line.joins) return 0;
  const fullRows = rowsOf(line);
  const share = (order.length / fullRows - 1) / (BATCHES_UNTIL_ROOM - 1);
  return share <= 0 ? 0 : Math.min(1, share) * line.times.expectedMs(fullRows);
}

/**
 * Displaces the least urgent requests of lower priority while there are too many: first of the new request's model
 * while it is at its cap, then of all while the queue is full.
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

/** Whether the new request's model is at its cap of waiting and running requests. */
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
 * Refused requests since the last batch began. Until the next batch a queue only grows, so a request no better off than
 * a refused one is refused without a simulation: of the same line, with as many rows, no later deadline, no higher
 * priority, and at least the same confidence.
 */
export class RefusalMemory {
  /** For each line the refused request with the latest deadline. */
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
