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
