import type { Env } from "../config.ts";
import type { RequestOutcome } from "../history/request-measurements.ts";
import { runnerLink } from "../stubs.ts";

const FLUSH_AFTER_MS = 200;
/** A flush that did not happen by now was cut off with its request; the next request takes over. */
const OVERDUE_MS = 5_000;

interface Batch {
  readonly outcomes: RequestOutcome[];
  readonly sinceMs: number;
}

/** Outcomes that this isolate has not handed on yet, by runner. */
const waiting = new Map<string, Batch>();

/** Hands an outcome to the runner's link after the reply, together with others of the same moment. */
export function logOutcome(
  env: Env,
  runnerId: string,
  outcome: RequestOutcome,
  waitUntil: (work: Promise<unknown>) => void,
): void {
  const nowMs = Date.now();
  const batch = waiting.get(runnerId);
  batch?.outcomes.push(outcome);
  if (batch !== undefined && nowMs - batch.sinceMs < OVERDUE_MS) return;
  waiting.set(runnerId, { outcomes: batch?.outcomes ?? [outcome], sinceMs: nowMs });
  waitUntil(flushLater(env, runnerId));
}

async function flushLater(env: Env, runnerId: string): Promise<void> {
  await scheduler.wait(FLUSH_AFTER_MS);
  const batch = waiting.get(runnerId);
  waiting.delete(runnerId);
  if (batch !== undefined) await runnerLink(env, runnerId).record(batch.outcomes);
}
