import { setTimeout as delay } from "node:timers/promises";
import { runOpenLoop } from "../../src/cli/load/open-loop.ts";
import { joinTensors } from "../../src/gpu-runner/serving/queue/join-tensors.ts";
import type { Tensor } from "../../src/protocol/wire/tensor.ts";
import type { FrameSender } from "./frame-sender.ts";
import { createInput, MODELS } from "./served-models.ts";
import { MAX_BUDGET_MS, ROWS, type Trace, type TracedRequest } from "./trace.ts";

/** Outcome of one request of a trace. */
export interface TraceOutcome {
  /** HTTP status; 0 where the connection broke; null without an answer before the last budget ended. */
  readonly status: number | null;
  /** Time from the scheduled arrival; without an answer, its wait so far. */
  readonly latencyMs: number;
  /** Time from the scheduled arrival to the sending. */
  readonly lagMs: number;
}

/** Time from the end of the last budget to the end of a round. */
const GRACE_MS = 50;
/** A request sent after its budget ended has the smallest allowed budget. */
const LEAST_BUDGET_MS = 0.1;

const singles = new Map(
  MODELS.map((model) => [model, Array.from({ length: ROWS }, (_, seed) => createInput(model, seed))]),
);

/** Tensors of a request: consecutive rows of its model. */
function inputOf({ model, row, rows }: TracedRequest): readonly Tensor[] {
  const all = singles.get(model)!;
  if (rows === 1) return all[row]!;
  return joinTensors(Array.from({ length: rows }, (_, index) => all[(row + index) % ROWS]!));
}

/**
 * Sends a trace. Each request carries the rest of its budget at sending, so that a late generator favours no contender.
 * After the last budget, `reset` makes the server drop its waiting requests.
 */
export async function putTrace(trace: Trace, sender: FrameSender, reset: () => void): Promise<TraceOutcome[]> {
  const { arrivalsMs, requests, durationMs } = trace;
  const inputs = requests.map(inputOf);
  const outcomes: TraceOutcome[] = [];
  const lags = new Float64Array(requests.length);
  let isOver = false;
  const begun = Promise.withResolvers<number>();
  const send = (index: number, lagMs: number): Promise<string> => {
    // Arrivals count from the pacer's readiness, which takes some time.
    begun.resolve(arrivalsMs[index]! + lagMs);
    lags[index] = lagMs;
    const { model, budgetMs } = requests[index]!;
    const leftMs = Math.max(LEAST_BUDGET_MS, budgetMs - lagMs);
    return sender.send(model, leftMs, inputs[index]!).then(
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
