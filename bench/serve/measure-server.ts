import { setTimeout as delay } from "node:timers/promises";
import { poissonArrivals } from "../../src/cli/load/arrivals.ts";
import { runOpenLoop } from "../../src/cli/load/open-loop.ts";
import { nearestRank } from "../../src/stats/distribution/summary.ts";
import { type Call, Sender } from "./requests.ts";

const IDLE_REQUESTS = 200;
const CALLERS = 16;
const CAPACITY_MS = 2_000;
const ROUND_MS = 3_000;
/** Wider than any wait of a single request. */
const PATIENT_MS = 10_000;
/** A server is calm when so many single requests in a row take at most this many times their idle median. */
const CALM = { requests: 3, times: 3, withinMs: 60_000 };
/** Time after the last deadline in which replies are still awaited. */
const GRACE_MS = 500;

/** Times of requests one after the other. */
export async function measureIdle(call: Call): Promise<Record<string, number>> {
  const sender = new Sender();
  const times: number[] = [];
  for (let request = 0; request < IDLE_REQUESTS; request++) {
    const startedAt = performance.now();
    const { status, body } = await sender.send(call, PATIENT_MS);
    if (status !== 200) throw new Error(`status ${status}: ${body.toString().slice(0, 200)}`);
    times.push(performance.now() - startedAt);
  }
  sender.close();
  const sorted = Float64Array.from(times).toSorted();
  return { p50: nearestRank(sorted, 0.5), p99: nearestRank(sorted, 0.99) };
}

/** Answers a second to callers without pauses. */
export async function measureCapacity(call: Call): Promise<number> {
  const sender = new Sender();
  let answers = 0;
  const endMs = performance.now() + CAPACITY_MS;
  const callOn = async () => {
    while (performance.now() < endMs) {
      const { status } = await sender.send(call, PATIENT_MS);
      if (status === 200) answers++;
      else await delay(1);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, callOn));
  sender.close();
  return (1e3 * answers) / CAPACITY_MS;
}

/** Waits until single requests are as fast as on the idle server; throws where that does not come. */
export async function waitForCalm(call: Call, idleMs: number): Promise<void> {
  const sender = new Sender();
  const endMs = performance.now() + CALM.withinMs;
  try {
    for (let calm = 0; calm < CALM.requests;) {
      if (performance.now() > endMs) throw new Error("it did not recover from a load within a minute");
      const startedAt = performance.now();
      const isAnswered = await sender.send(call, PATIENT_MS).then(
        ({ status }) => status === 200,
        () => false,
      );
      calm = isAnswered && performance.now() - startedAt <= CALM.times * idleMs + 5 ? calm + 1 : 0;
      if (!isAnswered) await delay(50);
    }
  } finally {
    sender.close();
  }
}

interface Load {
  readonly ratePerSecond: number;
  readonly deadlineMs: number;
  readonly seed: number;
}

/**
 * Sends Poisson arrivals, each with what is left of its deadline, and scores them. *In time* is an answer by the deadline,
 * from the scheduled arrival; *refused* is any other reply by then; the rest is *late*. Percentiles are of the answers, and NaN
 * without any.
 */
export async function measureLoad(call: Call, { ratePerSecond, deadlineMs, seed }: Load) {
  const sender = new Sender();
  const arrivals = poissonArrivals({ ratePerSecond, durationMs: ROUND_MS, seed });
  const answers: number[] = [];
  const lags: number[] = [];
  let [inTime, refused] = [0, 0];
  let isOver = false;
  const begun = Promise.withResolvers<void>();
  const load = runOpenLoop(
    arrivals,
    (_, lagMs) => {
      begun.resolve();
      lags.push(lagMs);
      return sender.send(call, Math.max(0.1, deadlineMs - lagMs)).then(
        ({ status }) => (status === 200 ? "answered" : "refused"),
        () => "broken",
      );
    },
    ({ result, latencyMs }) => {
      if (isOver) return;
      const isInTime = latencyMs <= deadlineMs;
      if (result === "answered") answers.push(latencyMs);
      if (result === "answered" && isInTime) inTime++;
      if (result === "refused" && isInTime) refused++;
    },
    new AbortController().signal,
  );
  await Promise.race([begun.promise.then(() => delay(ROUND_MS + deadlineMs + GRACE_MS)), load]);
  isOver = true;
  sender.close();
  await load;
  const sorted = Float64Array.from(answers).toSorted();
  const total = arrivals.length;
  return {
    goodput: (1e3 * inTime) / ROUND_MS,
    p50: nearestRank(sorted, 0.5),
    p99: nearestRank(sorted, 0.99),
    refused: (100 * refused) / total,
    late: (100 * (total - inTime - refused)) / total,
    "p99 lateness of the generator": nearestRank(Float64Array.from(lags).toSorted(), 0.99),
  };
}
