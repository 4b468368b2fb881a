import type { Waiting } from "./play-queue.ts";

interface Urgent {
  readonly id: string;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** Higher goes first, whatever the deadlines; negative for a probe, which is nobody's request. */
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

/** A queue in the order in which it is served. */
export interface Arranged<Work extends Waiting> {
  readonly order: readonly Work[];
  /** Whether requests of several tenants wait; turns of one alone do not bind it. */
  readonly isShared: boolean;
  /** A later turn gives way to an earlier one of another tenant; a probe has the last one. */
  readonly turnOf: (work: Work) => number;
  /** Turn of a tenant's next request. */
  readonly nextTurnOf: (tenant: number | undefined) => number;
}

/** Arranges requests that are ordered by urgency. */
export type Arrange = <Work extends Waiting>(order: readonly Work[]) => Arranged<Work>;

/** Turn of a probe. */
export const LAST_TURN = Number.POSITIVE_INFINITY;

/** By urgency, as if all were of one tenant. */
export const byUrgencyAlone: Arrange = (order) => ({
  order,
  isShared: false,
  turnOf: (work) => (isProbe(work) ? LAST_TURN : 0),
  nextTurnOf: () => 0,
});

/** Whether a waiting request gives way to another one: a less important one of its tenant, or one with a later turn. */
export function givesWay<Work extends Waiting>(work: Work, to: Work, turnOf: Arranged<Work>["turnOf"]): boolean {
  if (isProbe(work) || work.line.tenant === to.line.tenant) return work.priority < to.priority;
  return turnOf(work) > turnOf(to);
}

export function isProbe({ priority }: Pick<Urgent, "priority">): boolean {
  return priority < 0;
}
