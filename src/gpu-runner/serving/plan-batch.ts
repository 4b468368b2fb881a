/** A request that waits for a device. */
export interface Waiting {
  readonly id: string;
  /** What serves it; only requests of one placement share a batch. */
  readonly placement: string;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** Higher goes first, whatever the deadlines. */
  readonly priority: number;
  /** How sure its answer has to be in time. */
  readonly confidence: number;
  /** Items of the batch dimension that it brings. */
  readonly rows: number;
}

/** What is known of the device: both from measurements. */
export interface ServiceRules {
  /** Duration of a batch of so many rows that is not exceeded with this confidence. */
  serviceMs(placement: string, rows: number, confidence: number): number;
  maxRows(placement: string): number;
}

export interface BatchPlan {
  /** Requests that cannot be in time even if they were alone and began now. */
  readonly doomed: readonly Waiting[];
  /** Requests to compute now, together; empty where nothing is left to do. */
  readonly batch: readonly Waiting[];
}

/** Requests that a decision looks at, and leaders of a batch that it compares. */
const HORIZON = 64;
const LEADERS = [0, 1, 2, 4, 8, 16];

/**
 * Chooses what a device computes next. Requests are taken by priority, then earliest deadline first,
 * which serves all in time wherever that is possible (Liu and Layland, 1973). A batch grows while every
 * deadline in it stays safe at its own confidence. Where not all can be in time, the earliest deadline
 * leaves room for small batches only and would drag the others down with it: then some later leaders are
 * tried, too, the rest of the queue is played through for each, and the one with most answers in time
 * wins (as Nexus' early drop, Shen et al., SOSP 2019, but by playing instead of a fixed window).
 */
export function planBatch(waiting: readonly Waiting[], nowMs: number, rules: ServiceRules): BatchPlan {
  const viable: Waiting[] = [];
  const doomed: Waiting[] = [];
  for (const each of waiting) (isSafe(each, each.rows, nowMs, rules) ? viable : doomed).push(each);
  const order = viable.toSorted(byUrgency).slice(0, HORIZON);
  const [first] = order;
  if (first === undefined) return { doomed, batch: [] };
  let best = tryLeader(order, 0, nowMs, rules);
  if (best.inTime < order.length) {
    for (const leader of LEADERS.slice(1)) {
      // A later leader may not push aside what is more important.
      if (order[leader]?.priority !== first.priority) break;
      const tried = tryLeader(order, leader, nowMs, rules);
      if (tried.inTime > best.inTime) best = tried;
    }
  }
  return { doomed, batch: best.batch };
}

/** By priority, then deadline; equal ones by their ids, so that a decision depends on nothing else. */
function byUrgency(a: Waiting, b: Waiting): number {
  return b.priority - a.priority || a.deadlineMs - b.deadlineMs || (a.id < b.id ? -1 : 1);
}

function isSafe({ placement, deadlineMs, confidence }: Waiting, rows: number, nowMs: number, rules: ServiceRules) {
  return nowMs + rules.serviceMs(placement, rows, confidence) <= deadlineMs;
}

/** The batch of a leader, and how many of all requests would be in time behind that choice. */
function tryLeader(order: readonly Waiting[], leader: number, nowMs: number, rules: ServiceRules) {
  const { batch, rest, endMs } = formBatch(order, leader, nowMs, rules);
  return { batch, inTime: batch.length + playOut(rest, endMs, rules) };
}

/** Answers in time if the rest is served by earliest deadlines alone. */
function playOut(waiting: readonly Waiting[], fromMs: number, rules: ServiceRules): number {
  let inTime = 0;
  let nowMs = fromMs;
  let left = waiting.filter((each) => isSafe(each, each.rows, nowMs, rules));
  while (left.length > 0) {
    const { batch, rest, endMs } = formBatch(left, 0, nowMs, rules);
    inTime += batch.length;
    nowMs = endMs;
    left = rest.filter((each) => isSafe(each, each.rows, nowMs, rules));
  }
  return inTime;
}

/** Grows a batch from its leader on; those who would spoil it are passed over. The median says when it ends. */
function formBatch(order: readonly Waiting[], leader: number, nowMs: number, rules: ServiceRules) {
  const { placement } = order[leader]!;
  const batch: Waiting[] = [];
  const rest = order.slice(0, leader);
  let rows = 0;
  for (const each of order.slice(leader)) {
    const grown = rows + each.rows;
    const fits =
      each.placement === placement &&
      (batch.length === 0 || grown <= rules.maxRows(placement)) &&
      [...batch, each].every((member) => isSafe(member, grown, nowMs, rules));
    if (fits) {
      batch.push(each);
      rows = grown;
    } else rest.push(each);
  }
  return { batch, rest, endMs: nowMs + rules.serviceMs(placement, rows, 0.5) };
}
