import {
  type BurstEnd,
  judgeOrder,
  judgeRetries,
  judgeSlots,
  type RetryRound,
  type SlotRound,
} from "./judge-rounds.ts";
import { isAnswer, type Judgement, type Seen, untold } from "./judgement.ts";
import { answerAll, evenArrivals, putRequests, sendBurst, type Sent, UNHURRIED_MS } from "./put-requests.ts";
import { calm, CUT, NO_CARRIER, NOT_CALM, type Suite } from "./suite.ts";

/** Fresh requests that probe a server at once. */
const PROBES = 8;
/** A burst leaves at least so much work behind the time that its clients leave. */
const LEFT_MS = 1_000;
const MOST_BURST = 512;

/** Requests whose work takes so long. */
function burstOf({ baseline }: Suite, workMs: number): number {
  return Math.min(MOST_BURST, Math.max(2 * PROBES, Math.ceil((baseline.capacityPerSecond * workMs) / 1e3)));
}

function leftMs({ baseline }: Suite, waiting: number): number {
  return (1e3 * waiting) / baseline.capacityPerSecond;
}

export async function measureWork(suite: Suite): Promise<Judgement> {
  const { target, sender, baseline, deadlineMs, toleranceMs } = suite;
  if (!target.hasDeadline) return untold(NO_CARRIER);
  const count = burstOf(suite, deadlineMs + Math.max(LEFT_MS, 2 * deadlineMs));
  const rounds = await measureSlots(suite, "bursts that expire", async () => {
    sendBurst(sender, count, deadlineMs);
    await sender.pause(deadlineMs + toleranceMs);
    // All that it has not had the time for; what was refused by then counts, too, since refusing it is right.
    return { waiting: count - (baseline.capacityPerSecond * (deadlineMs + toleranceMs)) / 1e3, close: null };
  });
  if (rounds === null) return untold(NOT_CALM);
  return judgeSlots(rounds, { toleranceMs, after: "after the deadline of a burst" });
}

export async function measureCancellation(suite: Suite): Promise<Judgement> {
  const { sender, baseline, toleranceMs } = suite;
  const closedAtMs = Math.max(100, 2 * baseline.idleP50Ms);
  const count = burstOf(suite, closedAtMs + LEFT_MS);
  const rounds = await measureSlots(suite, "bursts whose connections close", async () => {
    const closing = new AbortController();
    const burst = sendBurst(sender, count, UNHURRIED_MS, { signal: closing.signal });
    await sender.pause(closedAtMs);
    return { waiting: burst.filter(({ status }) => status === null).length, close: closing };
  });
  if (rounds === null) return untold(NOT_CALM);
  return judgeSlots(rounds, { toleranceMs, after: "after the closing of a burst's connections" });
}

/**
 * Rounds of: probes on the calm server, a burst, probes again. Rounds in stalls of this process are made again, up to as
 * many as were asked for. Null where the server was not calm before one.
 */
async function measureSlots(
  suite: Suite,
  what: string,
  burst: () => Promise<{ readonly waiting: number; readonly close: AbortController | null }>,
): Promise<SlotRound[] | null> {
  const rounds: SlotRound[] = [];
  const countClear = () => rounds.filter(({ doubtMs }) => doubtMs <= suite.toleranceMs).length;
  const mayGoOn = () => rounds.length < 2 * suite.rounds && !suite.sender.stopped.aborted;
  while (countClear() < suite.rounds && mayGoOn()) {
    if (!(await calm(suite))) return null;
    suite.say(`${what} (${countClear() + 1} of ${suite.rounds})`);
    const control = await answerAll(suite.sender, PROBES);
    const { waiting, close } = await burst();
    close?.abort();
    const probe = await answerAll(suite.sender, PROBES);
    rounds.push({
      controlMs: control.durationMs,
      probeMs: probe.durationMs,
      leftMs: leftMs(suite, waiting),
      doubtMs: Math.max(control.doubtMs, probe.doubtMs),
    });
  }
  return rounds;
}

/** Arrivals of a backlog come this many times faster than answers. */
const BACKLOG = 4;
const BACKLOG_MS = 1_000;

export async function measureBarging(suite: Suite): Promise<Judgement> {
  const { sender, baseline, say } = suite;
  const { idleP50Ms, idleP95Ms, capacityPerSecond, callers } = baseline;
  const count = burstOf(suite, BACKLOG_MS);
  const rounds: Seen[][] = [];
  for (let round = 0; round < suite.rounds && !sender.stopped.aborted; round++) {
    if (!(await calm(suite))) return untold(NOT_CALM);
    say(`backlogs in order (${round + 1} of ${suite.rounds})`);
    const plan = { deadlineMs: UNHURRIED_MS, horizonMs: UNHURRIED_MS };
    const { seen, isCut } = await putRequests(sender, evenArrivals(count, BACKLOG * capacityPerSecond), plan);
    if (isCut) return untold(CUT);
    rounds.push(seen);
  }
  return judgeOrder(rounds, { jitterMs: Math.max(2, idleP95Ms - idleP50Ms), idleMs: idleP50Ms, callers });
}

export async function measureRetries(suite: Suite): Promise<Judgement> {
  const { target, toleranceMs, baseline } = suite;
  const retryAtMs = Math.max(100, 2 * baseline.idleP50Ms);
  const count = burstOf(suite, retryAtMs + LEFT_MS);
  const rounds: RetryRound[] = [];
  for (let round = 0; round < suite.rounds && !suite.sender.stopped.aborted; round++) {
    if (!(await calm(suite))) return untold(NOT_CALM);
    suite.say(`bursts with and without retries (${round + 1} of ${suite.rounds})`);
    const control = await putBurst(suite, count, retryAtMs, false);
    if (!(await calm(suite))) return untold(NOT_CALM);
    const retried = await putBurst(suite, count, retryAtMs, true);
    rounds.push({ control, retried });
  }
  const how = target.hasRetryKey
    ? "send again under the same key while the first is open"
    : "close their connections and send again";
  return judgeRetries(rounds, { toleranceMs, how });
}

/** One burst, whose waiting clients send again at some time or do not; times count from there. */
async function putBurst(suite: Suite, count: number, retryAtMs: number, isRetried: boolean): Promise<BurstEnd> {
  const { sender, target } = suite;
  const closing = new AbortController();
  const keys = Array.from({ length: count }, () => crypto.randomUUID());
  const first = sendBurst(sender, count, UNHURRIED_MS, { signal: closing.signal, keys });
  await sender.pause(retryAtMs);
  const waiting = first.flatMap(({ status }, index) => (status === null ? [index] : []));
  const startedMs = performance.now();
  let awaited: Sent[] = waiting.map((index) => first[index]!);
  if (isRetried) {
    if (!target.hasRetryKey) closing.abort();
    const again = sendBurst(sender, waiting.length, UNHURRIED_MS, { keys: waiting.map((index) => keys[index]!) });
    awaited = target.hasRetryKey ? [...awaited, ...again] : again;
  }
  await Promise.all(awaited.map(({ ended }) => ended));
  const answered = awaited.filter(({ status }) => status !== null && isAnswer({ status })).length;
  return {
    durationMs: performance.now() - startedMs,
    answeredShare: waiting.length === 0 ? 0 : answered / awaited.length,
    leftMs: leftMs(suite, waiting.length),
  };
}
