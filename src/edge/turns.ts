/** Time after which an urgent request no longer counts: one whose caller left may never say that it ended. */
const URGENT_MS = 250;
/** Longest time for which a turn gives way, so that steady inference cannot stop the rest. */
const GIVE_WAY_MS = 20;
const POLL_MS = 1;
/** Without an urgent request for so long, turns are long again. */
const CALM_AFTER_MS = 1_000;
/** Short turns in a long one. */
const LONG_TURN = 8;

/** Start of each urgent request of this isolate, in Unix milliseconds. */
const urgent = new Map<object, number>();
let urgentAtMs = 0;
let shortTurns = 0;

/** Counts an urgent request, an inference, until the returned function is called. */
export function beginUrgent(): () => void {
  const request = {};
  urgentAtMs = Date.now();
  urgent.set(request, urgentAtMs);
  return () => void urgent.delete(request);
}

/** Whether long work takes short turns: urgent requests come, and would wait for it. */
export function takesShortTurns(): boolean {
  return Math.abs(Date.now() - urgentAtMs) < CALM_AFTER_MS;
}

/** Ends a turn of some hundred microseconds: as `endTurn` while urgent requests come, else at every eighth call. */
export async function endShortTurn(): Promise<void> {
  if (takesShortTurns() || ++shortTurns % LONG_TURN === 0) await endTurn();
}

/**
 * Ends a turn of long work: yields to other requests of this isolate, which has one thread, and lets urgent ones end.
 */
export async function endTurn(): Promise<void> {
  const latestMs = Date.now() + GIVE_WAY_MS;
  do await new Promise((resolve) => setTimeout(resolve, hasUrgent() ? POLL_MS : 0));
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
