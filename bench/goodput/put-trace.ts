import { setTimeout as delay } from "node:timers/promises";
import { runOpenLoop } from "../../src/cli/load/open-loop.ts";
import type { FrameSender } from "./frame-sender.ts";
import { createInput, MODELS } from "./served-models.ts";
import { MAX_BUDGET_MS, ROWS, type Trace } from "./trace.ts";

/** How one request of a trace ended. */
export interface TraceOutcome {
  /** HTTP status, 0 where the connection broke; null where no answer came before the last budget had ended. */
  readonly status: number | null;
  /** From the scheduled arrival; where no answer came, how long it had waited by then. */
  readonly latencyMs: number;
  /** From the scheduled arrival to the sending. */
  readonly lagMs: number;
}

/** From the end of the last budget to the end of a round. */
const GRACE_MS = 50;
/** A request that was sent when its budget had ended is told the least one that is allowed. */
const LEAST_BUDGET_MS = 0.1;

const rows = new Map(
  MODELS.map((model) => [model, Array.from({ length: ROWS }, (_, seed) => createInput(model, seed))]),
);

/**
 * Sends a trace. A request tells what is left of its budget when it goes out, so that the generator's
 * own lateness is nobody's advantage. Behind the last budget `reset` makes the server give up what waits.
 */
export async function putTrace(trace: Trace, sender: FrameSender, reset: () => void): Promise<TraceOutcome[]> {
  const { arrivalsMs, requests, durationMs } = trace;
  const outcomes: TraceOutcome[] = [];
  const lags = new Float64Array(requests.length);
  let isOver = false;
  const begun = Promise.withResolvers<number>();
  const send = (index: number, lagMs: number): Promise<string> => {
    // Arrivals count from when the pacer is ready, which takes some time.
    begun.resolve(arrivalsMs[index]! + lagMs);
    lags[index] = lagMs;
    const { model, budgetMs, row } = requests[index]!;
    const leftMs = Math.max(LEAST_BUDGET_MS, budgetMs - lagMs);
    return sender.send(model, leftMs, rows.get(model)![row]!).then(
      ({ status }) => String(status),
      () => "0",
    );
  };
  const load = runOpenLoop(
    arrivalsMs,
    send,
    ({ result, latencyMs, lagMs }, index) => {
      if (!isOver) outcomes[index] = { status: Number(result), latencyMs, lagMs };
    },
    new AbortController().signal,
  );
  const endMs = durationMs + MAX_BUDGET_MS + GRACE_MS;
  await Promise.race([begun.promise.then((passedMs) => delay(endMs - passedMs)), load]);
  isOver = true;
  reset();
  await load;
  if (outcomes.every(({ status }) => status === 0)) throw new Error("its server cannot be reached");
  return requests.map(
    (_, index) => outcomes[index] ?? { status: null, latencyMs: endMs - arrivalsMs[index]!, lagMs: lags[index]! },
  );
}
