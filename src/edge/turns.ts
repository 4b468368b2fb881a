/** Time after which an urgent request no longer counts: one whose caller left may never say that it ended. */
const URGENT_MS = 250;
/** Longest time for which a turn gives way, so that steady inference cannot stop the rest. */
const GIVE_WAY_MS = 20;
const POLL_MS = 1;

/** Start of each urgent request of this isolate, in Unix milliseconds. */
const urgent = new Map<object, number>();

/** Counts an urgent request, an inference, until the returned function is called. */
export function beginUrgent(): () => void {
  const request = {};
  urgent.set(request, Date.now());
  return () => void urgent.delete(request);
}

/**
 * Ends a turn of long work: yields to other requests of this isolate, which has one thread, and lets urgent ones end.
 * Takes a millisecond where there are none.
 */
export async function endTurn(): Promise<void> {
  const latestMs = Date.now() + GIVE_WAY_MS;
  do await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  while (hasUrgent() && Date.now() < latestMs);
}

function hasUrgent(): boolean {
  const earliestMs = Date.now() - URGENT_MS;
  for (const [request, startedMs] of urgent) {
    if (startedMs >= earliestMs) return true;
    urgent.delete(request);
  }
  return false;
}
