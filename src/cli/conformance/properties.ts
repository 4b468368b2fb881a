import { setTimeout as delay } from "node:timers/promises";
import { poissonArrivals } from "../load/arrivals.ts";
import { judgeExpiry, judgeRecovery, judgeRefusal } from "./judge-overload.ts";
import { judgeOrder, judgeRetries, judgeSlots, type RetryRound, type SlotRound } from "./judge-rounds.ts";
import { findLag, inMs, isAnswer, judgeEnd, type Judgement, type Seen, untold } from "./judgement.ts";
import { type Baseline, drain } from "./measure-baseline.ts";
import { answerAll, evenArrivals, putRequests, sendBurst, type Sent, UNHURRIED_MS } from "./put-requests.ts";
import type { Sender } from "./sender.ts";
import type { Target } from "./target.ts";

/** A run of the suite: the server as measured, and how it is judged. Loads are derived from these. */
export interface Suite {
  readonly target: Target;
  readonly sender: Sender;
  readonly baseline: Baseline;
  readonly deadlineMs: number;
  readonly toleranceMs: number;
  readonly lateShare: number;
  readonly rounds: number;
  readonly overloadMs: number;
  readonly seed: number;
  /** Says what happens now. */
  readonly say: (what: string) => void;
  /** The load of expiry and refusal, which is put once. */
  overload?: Promise<Overload | null>;
}

/** The properties in the order of their measurement; docs/conformance.md defines them. */
export const PROPERTIES = {
  expiry: { title: "expiry on time", measure: measureExpiry },
  refusal: { title: "refusal against queueing", measure: measureRefusal },
  work: { title: "no work after the deadline", measure: measureWork },
  cancellation: { title: "cancellation frees the slot", measure: measureCancellation },
  barging: { title: "no barging", measure: measureBarging },
  recovery: { title: "recovery after overload", measure: measureRecovery },
  retries: { title: "retries do not double work", measure: measureRetries },
} as const satisfies Record<string, { title: string; measure: (suite: Suite) => Promise<Judgement> }>;

export type Property = keyof typeof PROPERTIES;

const NO_CARRIER = "No deadline reaches the server (--deadline none), so there is none to keep.";
const NOT_CALM = "The server was not as fast as at first within a minute, so its state before the load is unknown.";

interface Overload {
  readonly seen: readonly Seen[];
  readonly durationMs: number;
}

const OVERLOAD = 2;
/**
 * Admitted requests, as a multiple of the reciprocal of their largest late share, beyond which an overload is repeated
 * no more. Wilson's interval needs 3.85 of them where none is late, and 6 where a few are.
 */
const ENOUGH = 8;
const MOST_EPISODES = 30;
/** Episodes after which a lagging generator gives up. */
const VAIN_EPISODES = 3;
/** How long after its deadline an end is waited for, at least. */
const GRACE_MS = 2_000;

/** Twice the capacity, for some seconds each time, until the evidence is enough; null where the server was not calm. */
function putOverload(suite: Suite): Promise<Overload | null> {
  return (suite.overload ??= putEpisodes(suite));
}

async function putEpisodes(suite: Suite): Promise<Overload | null> {
  const { sender, baseline, overloadMs, seed, say } = suite;
  const seen: Seen[] = [];
  for (let episode = 0; episode < MOST_EPISODES; episode++) {
    if (!(await calm(suite))) return episode === 0 ? null : { seen, durationMs: episode * overloadMs };
    say(`twice the capacity (${episode + 1}, ${seen.length} requests so far)`);
    const plan = { ratePerSecond: OVERLOAD * baseline.capacityPerSecond, durationMs: overloadMs, seed: seed + episode };
    seen.push(...(await putRequests(sender, poissonArrivals(plan), hurry(suite))));
    const load = { seen, durationMs: (episode + 1) * overloadMs };
    const refusal = judgeLoad(suite, load);
    const isRefusalTold =
      refusal.verdict !== "untold" || (refusal.figures["admitted"] ?? 0) >= ENOUGH / suite.lateShare;
    const isTold = isRefusalTold && judgeExpiry(seen, suite).verdict !== "untold";
    const isVain = episode + 1 >= VAIN_EPISODES && findLag(seen, suite) !== null;
    if (isTold || isVain || sender.stopped.aborted) return load;
  }
  return { seen, durationMs: MOST_EPISODES * overloadMs };
}

function hurry({ deadlineMs }: Suite) {
  return { deadlineMs, horizonMs: deadlineMs + Math.max(GRACE_MS, deadlineMs) };
}

async function measureExpiry(suite: Suite): Promise<Judgement> {
  if (!suite.target.hasDeadline) return untold(NO_CARRIER);
  const load = await putOverload(suite);
  return load === null ? untold(NOT_CALM) : judgeExpiry(load.seen, suite);
}

async function measureRefusal(suite: Suite): Promise<Judgement> {
  const load = await putOverload(suite);
  return load === null ? untold(NOT_CALM) : judgeLoad(suite, load);
}

function judgeLoad(suite: Suite, { seen, durationMs }: Overload): Judgement {
  return judgeRefusal(seen, { ...suite, durationMs, capacityPerSecond: suite.baseline.capacityPerSecond });
}

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

async function measureWork(suite: Suite): Promise<Judgement> {
  const { target, sender, baseline, deadlineMs, toleranceMs } = suite;
  if (!target.hasDeadline) return untold(NO_CARRIER);
  const count = burstOf(suite, deadlineMs + Math.max(LEFT_MS, 2 * deadlineMs));
  const rounds = await measureSlots(suite, "bursts that expire", async () => {
    sendBurst(sender, count, deadlineMs);
    await delay(deadlineMs + toleranceMs);
    // All that it has not had the time for; what was refused by then counts, too, since refusing it is right.
    return { waiting: count - (baseline.capacityPerSecond * (deadlineMs + toleranceMs)) / 1e3, close: null };
  });
  if (rounds === null) return untold(NOT_CALM);
  return judgeSlots(rounds, { toleranceMs, after: "after the deadline of a burst" });
}

async function measureCancellation(suite: Suite): Promise<Judgement> {
  const { sender, baseline, toleranceMs } = suite;
  const closedAtMs = Math.max(100, 2 * baseline.idleP50Ms);
  const count = burstOf(suite, closedAtMs + LEFT_MS);
  const rounds = await measureSlots(suite, "bursts whose connections close", async () => {
    const closing = new AbortController();
    const burst = sendBurst(sender, count, UNHURRIED_MS, { signal: closing.signal });
    await delay(closedAtMs);
    return { waiting: burst.filter(({ status }) => status === null).length, close: closing };
  });
  if (rounds === null) return untold(NOT_CALM);
  return judgeSlots(rounds, { toleranceMs, after: "after the closing of a burst's connections" });
}

/** Rounds of: probes on the calm server, a burst, probes again. Null where the server was not calm before one. */
async function measureSlots(
  suite: Suite,
  what: string,
  burst: () => Promise<{ readonly waiting: number; readonly close: AbortController | null }>,
): Promise<SlotRound[] | null> {
  const rounds: SlotRound[] = [];
  for (let round = 0; round < suite.rounds && !suite.sender.stopped.aborted; round++) {
    if (!(await calm(suite))) return null;
    suite.say(`${what} (${round + 1} of ${suite.rounds})`);
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

async function measureBarging(suite: Suite): Promise<Judgement> {
  const { sender, baseline, say } = suite;
  const { idleP50Ms, idleP95Ms, capacityPerSecond } = baseline;
  const count = burstOf(suite, BACKLOG_MS);
  const rounds: Seen[][] = [];
  for (let round = 0; round < suite.rounds && !sender.stopped.aborted; round++) {
    if (!(await calm(suite))) return untold(NOT_CALM);
    say(`backlogs in order (${round + 1} of ${suite.rounds})`);
    const plan = { deadlineMs: UNHURRIED_MS, horizonMs: UNHURRIED_MS };
    rounds.push(await putRequests(sender, evenArrivals(count, BACKLOG * capacityPerSecond), plan));
  }
  return judgeOrder(rounds, { jitterMs: Math.max(2, idleP95Ms - idleP50Ms), idleMs: idleP50Ms });
}

const STRESS = 3;
const STRESSES = 3;
const FRESH_LOAD = 0.5;
/** Least number of fresh requests, of which rows of 20 are judged. */
const LEAST_FRESH = 40;
/** Longest recovery, where twice the deadline is not longer. */
const RECOVERY_MS = 1_000;

async function measureRecovery(suite: Suite): Promise<Judgement> {
  const { sender, baseline, overloadMs, deadlineMs, seed, say } = suite;
  const rate = baseline.capacityPerSecond;
  const freshRate = FRESH_LOAD * rate;
  const freshCount = Math.max(LEAST_FRESH, Math.ceil((freshRate * overloadMs) / 1e3));
  if (!(await calm(suite))) return untold(NOT_CALM);
  say("half the capacity, before an overload");
  const before = await putRequests(sender, evenArrivals(LEAST_FRESH, freshRate), hurry(suite));
  const good = before.filter((each) => isAnswer(each) && judgeEnd(each, suite) !== "late").length;
  if (good < 0.95 * LEAST_FRESH) {
    return untold(
      `Even before an overload, only ${good} of ${LEAST_FRESH} requests at half the capacity met ${inMs(deadlineMs)}.`,
    );
  }
  const rounds: Seen[][] = [];
  for (let round = 0; round < STRESSES && !sender.stopped.aborted; round++) {
    if (!(await calm(suite))) return untold(NOT_CALM);
    say(`three times the capacity, then half of it (${round + 1} of ${STRESSES})`);
    const stress = poissonArrivals({
      ratePerSecond: STRESS * rate,
      durationMs: overloadMs,
      seed: seed + 1_000 + round,
    });
    const arrivals = Float64Array.from([...stress, ...evenArrivals(freshCount, freshRate, overloadMs)]);
    rounds.push((await putRequests(sender, arrivals, hurry(suite))).filter(({ atMs }) => atMs >= overloadMs));
  }
  const mostMs = Math.max(RECOVERY_MS, 2 * deadlineMs);
  return judgeRecovery(rounds, { ...suite, mostMs, watchedMs: (1e3 * freshCount) / freshRate });
}

async function measureRetries(suite: Suite): Promise<Judgement> {
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
    rounds.push({ ...retried, controlMs: control.retryMs });
  }
  const how = target.hasRetryKey
    ? "send again under the same key while the first is open"
    : "close their connections and send again";
  return judgeRetries(rounds, { toleranceMs, how });
}

/** One burst, whose waiting clients send again at some time or do not; times count from there. */
async function putBurst(
  suite: Suite,
  count: number,
  retryAtMs: number,
  isRetried: boolean,
): Promise<Omit<RetryRound, "controlMs">> {
  const { sender, target } = suite;
  const closing = new AbortController();
  const keys = Array.from({ length: count }, () => crypto.randomUUID());
  const first = sendBurst(sender, count, UNHURRIED_MS, { signal: closing.signal, keys });
  await delay(retryAtMs);
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
    retryMs: performance.now() - startedMs,
    answeredShare: waiting.length === 0 ? 0 : answered / awaited.length,
    leftMs: leftMs(suite, waiting.length),
  };
}

function calm({ sender, baseline, toleranceMs }: Suite): Promise<boolean> {
  return drain(sender, baseline, toleranceMs);
}
