import { LIMITS } from "../../../protocol/wire/limits.ts";
import {
  endBefore,
  type Expected,
  type Line,
  NOTHING,
  type PlayOptions,
  playQueue,
  type Running,
  type Waiting,
} from "./play-queue.ts";
import { type Arrange, type Arranged, byUrgencyAlone, givesWay, insertByUrgency } from "./urgency.ts";

/** Verdict on a new request. */
export type Verdict<Work extends Waiting> =
  /** Accepted. Requests that give way to it and had to make room are no longer in the queue. */
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

/** Age of a line's times, and of its tenant's last trial, from which a request may be tried that they exclude. */
const TRIAL_AFTER_MS = 100;
/** Most of the device's time for a tenant's trials while other work is there, should they last as long as ever. */
const TRIAL_SHARE = 0.05;
/**
 * Safety factor on the deviation of the work before a request. A factor of one is right for a single forecast, but
 * later arrivals use up the slack again, until something is slow.
 */
const CAUTION = 1.25;
/** Number of waiting batches from which each new request must leave room for a full one. */
const BATCHES_UNTIL_ROOM = 3;

/** What a decision depends on besides the queue itself. */
export interface Circumstances {
  readonly expected?: Expected;
  /** When the device last accepted a trial of the newcomer's tenant. */
  readonly lastTrialMs?: number;
  /** The order in which the queue is served; by urgency where it is absent. */
  readonly arrange?: Arrange;
}

/**
 * Decides on arrival: an accepted request must be in time, and so must all accepted before it. The queue, which is
 * ordered by urgency, is simulated with it. It may displace those that give way to it: of its own tenant those of lower
 * priority, of others those of a later turn; otherwise none that was safe may become late.
 */
export function judgeArrival<Work extends Waiting>(
  order: readonly Work[],
  newcomer: Work,
  nowMs: number,
  running: Running | null,
  { expected = NOTHING, lastTrialMs = Number.NEGATIVE_INFINITY, arrange = byUrgencyAlone }: Circumstances = {},
): Verdict<Work> {
  const { rowsOf, shareAbove } = expected;
  const { line, rows, level, deadlineMs } = newcomer;
  if (nowMs + line.times.quantileMs(rows, level) > deadlineMs) {
    // A tenant that fills the queue must not keep another one's times from being renewed.
    const hasPlace = !isModelFull(order, newcomer, running) && !isFull(ofTenant(order, newcomer), newcomer);
    return { kind: hasPlace && isTrialDue(order, newcomer, nowMs, running, lastTrialMs) ? "trial" : "doomed" };
  }
  const { kept, pushedOut } = makeRoom(order, newcomer, running, arrange);
  const reason = isModelFull(kept, newcomer, running)
    ? "As many requests of the model are in flight as may be."
    : isFull(kept, newcomer)
      ? "As much waits for the device as may."
      : null;
  if (reason !== null) {
    const waiting = arrange(order);
    const played = playQueue(waiting.order, nowMs, running);
    const backlogMs = endBefore(waiting, line.tenant, played, nowMs) - nowMs;
    return { kind: "overloaded", reason, backlogMs };
  }
  const grown = insertByUrgency(kept, newcomer);
  const [before, after] = [arrange(kept), arrange(grown)];
  const plain = forecast(before, after, newcomer, nowMs, running, { caution: CAUTION, rowsOf });
  const { backlogMs } = plain;
  const share = shareAbove(newcomer, (tenant) => after.nextTurnOf(tenant) <= after.turnOf(newcomer));
  const forecasts = [plain];
  const isIdle = kept.length === 0 && running === null;
  // Once more with room for work to come, which interrupts nothing that begins now. Such a plan alone would leave out
  // others that it takes to be late.
  if (share > 0 && !plain.isLate && !isIdle) {
    const stretch = 1 / (1 - share);
    forecasts.push(forecast(before, after, newcomer, nowMs, running, { caution: CAUTION, rowsOf, stretch }));
  }
  if (forecasts.some(({ isLate }) => isLate)) {
    return { kind: "overloaded", reason: "The queue leaves too little of the budget.", backlogMs };
  }
  if (forecasts.some(({ harmed }) => harmed.some((each) => !givesWay(each, newcomer, after.turnOf)))) {
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
  { order: kept }: Arranged<Work>,
  after: Arranged<Work>,
  newcomer: Work,
  nowMs: number,
  running: Running | null,
  options: PlayOptions & Pick<Expected, "rowsOf">,
): { readonly isLate: boolean; readonly harmed: readonly Work[]; readonly backlogMs: number } {
  const { order: grown } = after;
  const played = playQueue(grown, nowMs, running, options);
  const { late, endsMs } = played;
  const backlogMs = endBefore(after, newcomer.line.tenant, played, nowMs) - nowMs;
  const endOfItMs = endsMs[grown.indexOf(newcomer)]!;
  const isLate =
    late.includes(newcomer) ||
    endOfItMs + roomMs(ofTenant(kept, newcomer), newcomer.line, options.rowsOf) > newcomer.deadlineMs;
  if (isLate || late.length === 0) return { isLate, harmed: [], backlogMs };
  const beforeMs = playQueue(kept, nowMs, running, options).endsMs;
  const places = new Map(kept.map((each, place) => [each, place]));
  const lateOnes = new Set(late);
  const harmed = grown.filter((each, at) => {
    if (each === newcomer || !lateOnes.has(each)) return false;
    const wasMs = beforeMs[places.get(each)!]!;
    // Requests that are late anyway, or end no later than before, are not harmed.
    return wasMs <= each.deadlineMs && !(endsMs[at]! <= wasMs);
  });
  return { isLate, harmed, backlogMs };
}

/**
 * Whether a request that its line's times exclude is tried all the same. Nothing else would renew these times where
 * they exclude every request. One trial of a device at a time; behind other work more seldom, since it may make that late.
 * Callers choose the shapes that make lines, so the pauses are their tenant's, too.
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
 * Displaces requests that give way while there are too many, the last ones first: of the new request's model while it
 * is at its cap, then of all while the queue is full.
 */
function makeRoom<Work extends Waiting>(
  order: readonly Work[],
  newcomer: Work,
  running: Running | null,
  arrange: Arrange,
) {
  let kept = order;
  while (isModelFull(kept, newcomer, running)) {
    const last = kept.findLastIndex((each) => isSameModel(each, newcomer) && each.priority < newcomer.priority);
    if (last < 0) return { kept: order, pushedOut: [] };
    kept = kept.toSpliced(last, 1);
  }
  if (isFull(kept, newcomer)) {
    const { order: served, turnOf } = arrange(insertByUrgency(kept, newcomer));
    for (const each of served.toReversed()) {
      if (!isFull(kept, newcomer)) break;
      if (each !== newcomer && givesWay(each, newcomer, turnOf)) kept = kept.filter((other) => other !== each);
    }
  }
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

function ofTenant<Work extends Waiting>(order: readonly Work[], { line }: Waiting): readonly Work[] {
  return order.filter((each) => each.line.tenant === line.tenant);
}

function isFull(order: readonly Waiting[], newcomer: Waiting): boolean {
  if (order.length >= LIMITS.deviceQueueRequests) return true;
  let sizeBytes = newcomer.sizeBytes;
  for (const each of order) sizeBytes += each.sizeBytes;
  return sizeBytes > LIMITS.deviceQueueBytes;
}

/**
 * Refused requests since the last batch began. Until the next batch a tenant's part of the queue only grows, so a
 * request no better off than a refused one is refused without a simulation: of the same line, with as many rows, no later deadline, no higher
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
