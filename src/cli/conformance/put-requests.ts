import { runOpenLoop } from "../load/open-loop.ts";
import { isAnswer, type Seen } from "./judgement.ts";
import type { Ended, Sender } from "./sender.ts";

/** Time for work that shall not expire. */
export const UNHURRIED_MS = 30_000;

/** Deadline of each request, and how long after the last arrival its end is waited for. */
interface LoadPlan {
  readonly deadlineMs: number;
  readonly horizonMs: number;
}

/** A load as it was seen. */
interface Load {
  readonly seen: Seen[];
  /** Whether it was cut short because too many were open: what was seen is no measure of the plan. */
  readonly isCut: boolean;
}

/**
 * Sends a request at each arrival, whatever becomes of those before. Each carries what is left of its deadline at its
 * sending, so that a late generator does not move the deadline. What has not ended at the horizon is closed. The load is
 * cut short where too many are open, or the sender is stopped.
 */
export async function putRequests(
  sender: Sender,
  arrivalsMs: Float64Array,
  { deadlineMs, horizonMs }: LoadPlan,
): Promise<Load> {
  const short = new AbortController();
  const over = new AbortController();
  const ends: Ended[] = [];
  const seen: Seen[] = [];
  let isCut = false;
  let timer: NodeJS.Timeout | undefined;
  const send = async (index: number, lagMs: number): Promise<string> => {
    // Arrivals count from the pacer's readiness, which takes some time.
    const passedMs = arrivalsMs[index]! + lagMs;
    timer ??= setTimeout(() => over.abort(), arrivalsMs.at(-1)! + horizonMs - passedMs);
    isCut ||= sender.isFull;
    if (isCut || sender.stopped.aborted) short.abort();
    ends[index] = await sender.send(Math.max(1, deadlineMs - lagMs), { signal: over.signal });
    return "";
  };
  await runOpenLoop(
    arrivalsMs,
    send,
    ({ latencyMs, lagMs }, index) => {
      const { status, doubtMs } = ends[index]!;
      seen.push({ atMs: arrivalsMs[index]!, lagMs, status, latencyMs, doubtMs });
    },
    short.signal,
  );
  clearTimeout(timer);
  return { seen: seen.toSorted((one, other) => one.atMs - other.atMs), isCut };
}

/** Arrivals at equal distances. */
export function evenArrivals(count: number, ratePerSecond: number, fromMs = 0): Float64Array<ArrayBuffer> {
  return Float64Array.from({ length: count }, (_, index) => fromMs + (1e3 * index) / ratePerSecond);
}

/** A request in a burst: when it ended, from the beginning; null while it has not. */
export interface Sent {
  endedMs: number | null;
  status: number | null;
  doubtMs: number;
  readonly ended: Promise<unknown>;
}

/** Sends requests at once; the signal closes those that are open. */
export function sendBurst(
  sender: Sender,
  count: number,
  deadlineMs: number,
  options: { signal?: AbortSignal; keys?: readonly string[] } = {},
): Sent[] {
  const { signal, keys } = options;
  const startedMs = performance.now();
  return Array.from({ length: count }, (_, index) => {
    const key = keys?.[index];
    const ended = sender.send(deadlineMs, { ...(signal && { signal }), ...(key !== undefined && { key }) });
    const sent: Sent = { endedMs: null, status: null, doubtMs: 0, ended: ended.then(note) };
    function note({ status, doubtMs }: Ended): void {
      Object.assign(sent, { status, doubtMs, endedMs: performance.now() - startedMs });
    }
    return sent;
  });
}

/** Pause of a refused caller before it asks again. */
const PAUSE_MS = 10;

/** Answers `count` callers who ask at once and, where they are refused, again. Returns the time to the last answer. */
export async function answerAll(
  sender: Sender,
  count: number,
): Promise<{ readonly durationMs: number; readonly doubtMs: number }> {
  const startedMs = performance.now();
  let doubtMs = 0;
  const call = async () => {
    while (!sender.stopped.aborted && performance.now() - startedMs < UNHURRIED_MS) {
      const ended = await sender.send(UNHURRIED_MS);
      doubtMs = ended.doubtMs;
      if (isAnswer(ended)) return;
      await sender.pause(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: count }, call));
  return { durationMs: performance.now() - startedMs, doubtMs };
}
