import { isHopeless, type Outcome, playQueue, type Waiting } from "./play-queue.ts";

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
      const tried = playQueue(viable, nowMs, null, leader);
      if (tried.late.length < best.late.length) best = tried;
    }
  }
  return { doomed, batch: best.batch, backlogMs: best.endMs - nowMs };
}
