import { type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";
import { quantile } from "../../stats/distribution/summary.ts";
import { isAnswer } from "./judgement.ts";
import { UNHURRIED_MS } from "./put-requests.ts";
import type { Sender } from "./sender.ts";

/** What the server does unhurried: loads and deadlines are derived from it. */
export interface Baseline {
  /** Latency of requests one after the other. */
  readonly idleP50Ms: number;
  readonly idleP95Ms: number;
  /** Answers per second to the number of callers that got most. */
  readonly capacityPerSecond: number;
  readonly callers: number;
}

const WARM_UP = 10;
const IDLE_MS = 2_000;
const LEAST_IDLE = 10;
const MOST_IDLE = 200;
const CAPACITY_MS = 2_500;
/** Callers without pauses, until more of them gain less than a twentieth. */
const CALLERS = [8, 16, 32, 64];
const GAIN = 1.05;

/**
 * Measures idle latency and capacity by short closed loops. Throws `invalid-request` where requests are not answered,
 * `internal` where none arrives or the run was stopped.
 */
export async function measureBaseline(sender: Sender, say: (what: string) => void): Promise<Baseline> {
  say("idle latency");
  const { status, text } = await sender.ask(UNHURRIED_MS);
  if (status <= 0) throw explain(sender, "internal", "the server cannot be reached");
  if (!isAnswer({ status })) throw explain(sender, "invalid-request", `the server answered ${status}: ${text}`);
  for (let count = 1; count < WARM_UP; count++) await sender.send(UNHURRIED_MS);
  const idle = await measureIdle(sender);
  let best = { capacityPerSecond: 0, callers: 0 };
  for (const callers of CALLERS) {
    say(`capacity by ${callers} callers`);
    const capacityPerSecond = await measureCapacity(sender, callers, idle.idleP50Ms);
    const isMore = capacityPerSecond > GAIN * best.capacityPerSecond;
    if (capacityPerSecond > best.capacityPerSecond) best = { capacityPerSecond, callers };
    if (!isMore) break;
  }
  if (best.capacityPerSecond === 0)
    throw explain(sender, "invalid-request", "the server answered none of several callers");
  return { ...idle, ...best };
}

/** The problem with a baseline: where the run was stopped, that is why nothing was answered. */
function explain({ stopped }: Sender, code: ProblemCode, detail: string): ProblemError {
  if (!stopped.aborted) return new ProblemError(code, detail);
  return new ProblemError("internal", `the run ended before anything could be judged: ${String(stopped.reason)}`);
}

async function measureIdle(sender: Sender): Promise<Pick<Baseline, "idleP50Ms" | "idleP95Ms">> {
  const latencies: number[] = [];
  const startedMs = performance.now();
  while (latencies.length < MOST_IDLE && (latencies.length < LEAST_IDLE || performance.now() - startedMs < IDLE_MS)) {
    const sentMs = performance.now();
    const ended = await sender.send(UNHURRIED_MS);
    if (!isAnswer(ended))
      throw explain(sender, "invalid-request", `the idle server answered with status ${ended.status}`);
    latencies.push(performance.now() - sentMs);
  }
  return { idleP50Ms: quantile(latencies, 0.5), idleP95Ms: quantile(latencies, 0.95) };
}

async function measureCapacity(sender: Sender, callers: number, pauseMs: number): Promise<number> {
  const startedMs = performance.now();
  let answered = 0;
  const call = async () => {
    while (performance.now() - startedMs < CAPACITY_MS && !sender.stopped.aborted) {
      if (isAnswer(await sender.send(UNHURRIED_MS))) answered++;
      else await sender.pause(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return (1e3 * answered) / (performance.now() - startedMs);
}

/** Idle again: so many probes in a row. */
const CALM = 3;
const MOST_DRAIN_MS = 60_000;

/** Waits until single requests are about as fast as at first; false where that takes more than a minute. */
export async function drain(sender: Sender, { idleP50Ms, idleP95Ms }: Baseline, toleranceMs: number): Promise<boolean> {
  const calmMs = Math.max(2 * idleP95Ms, idleP50Ms + toleranceMs);
  const startedMs = performance.now();
  for (let calm = 0; calm < CALM;) {
    if (sender.stopped.aborted || performance.now() - startedMs > MOST_DRAIN_MS) return false;
    const sentMs = performance.now();
    const ended = await sender.send(UNHURRIED_MS);
    calm = isAnswer(ended) && performance.now() - sentMs <= calmMs ? calm + 1 : 0;
    if (!isAnswer(ended)) await sender.pause(idleP50Ms);
  }
  return true;
}
