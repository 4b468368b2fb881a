import { setTimeout as delay } from "node:timers/promises";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";
import { drawPoissonArrivals } from "../../../src/stats/random/draws.ts";
import type { ChaosStack } from "../chaos-stack.ts";
import type { Ledger, SentInference } from "../promises/ledger.ts";

const BUDGETS_MS = [100, 300, 1_000, 3_000];
const INPUTS = { observation: { data: [[0.01, -0.02, 0.03, 0.04]] } };
/** Time without an answer after which a request has none. */
const NO_ANSWER_MS = 60_000;

/** Sends inferences at times of their own, whatever becomes of the earlier ones, until the signal; then waits for all. */
export async function sendInferences(
  stack: ChaosStack,
  ledger: Ledger,
  { seed, perSecond, signal }: { readonly seed: number; readonly perSecond: number; readonly signal: AbortSignal },
): Promise<void> {
  const startMs = performance.now();
  const sending = new Set<Promise<void>>();
  let count = 0;
  for (const atMs of drawPoissonArrivals(perSecond, seed)) {
    await delay(Math.max(0, startMs + atMs - performance.now()), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    const sent = sendInference(stack, ledger, count++);
    sending.add(sent);
    void sent.finally(() => sending.delete(sent));
  }
  await Promise.all(sending);
}

/** In turn: to anyone, to any processor of a runner, and to each runner by itself. */
async function sendInference({ client, runners }: ChaosStack, ledger: Ledger, count: number): Promise<void> {
  const budgetMs = BUDGETS_MS[count % BUDGETS_MS.length]!;
  const place = Math.floor(count / BUDGETS_MS.length) % (runners.length + 2);
  const runnerId = runners[place]?.id ?? null;
  const wish = runnerId !== null ? { runnerId } : place === runners.length ? { backend: "ort-cpu" as const } : {};
  const sent: SentInference = {
    sentMs: performance.now(),
    budgetMs,
    runnerId,
    endedMs: null,
    answer: null,
    reason: null,
  };
  ledger.inferences.push(sent);
  const body = { model: "cartpole", budgetMs, inputs: INPUTS, ...wish };
  try {
    await client.call(endpoints.infer, { body, signal: AbortSignal.timeout(NO_ANSWER_MS) });
    sent.answer = "ok";
  } catch (error) {
    Object.assign(sent, explain(error));
  }
  sent.endedMs = performance.now();
}

function explain(error: unknown): Pick<SentInference, "answer" | "reason"> {
  if (error instanceof ProblemError) return { answer: error.problem.code, reason: error.problem.detail };
  const isTimeout = error instanceof DOMException && error.name === "TimeoutError";
  return { answer: isTimeout ? null : "lost", reason: describeCauses(error) };
}

function describeCauses(error: unknown): string {
  return error instanceof Error ? [error.message, describeCauses(error.cause)].filter(Boolean).join(": ") : "";
}
