import { GIVE_WAY_MS, ThreadShares } from "./thread-shares.ts";

const POLL_MS = 1;
/** Short turns in a long one. */
const LONG_TURN = 8;

/** Of this isolate. */
export const threadShares = new ThreadShares(() => Date.now());
let shortTurns = 0;

/** Whether long work takes short turns: inferences come, and would wait for it. */
export function takesShortTurns(): boolean {
  return threadShares.hadUrgent();
}

/** Ends a turn of some hundred microseconds: as `endTurn` while inferences come, else at every eighth call. */
export async function endShortTurn(request?: object): Promise<void> {
  if (takesShortTurns() || ++shortTurns % LONG_TURN === 0) await endTurn(request);
}

/**
 * Ends a turn of long work: yields to other requests of this isolate, which has one thread. Work that is no inference
 * also lets inferences end; `request` is that of the work, if it may be one.
 */
export async function endTurn(request?: object): Promise<void> {
  const mustGiveWay = () => threadShares.hasUrgent() && !threadShares.isInference(request);
  const latestMs = Date.now() + GIVE_WAY_MS;
  do await new Promise((resolve) => setTimeout(resolve, mustGiveWay() ? POLL_MS : 0));
  while (mustGiveWay() && Date.now() < latestMs);
}
