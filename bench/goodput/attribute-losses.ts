import { boundByModel, knowRequests, type KnownRequest } from "./bound-goodput.ts";
import type { TraceOutcome } from "./put-trace.ts";
import { MODELS } from "./served-models.ts";
import type { ServiceTimes } from "./service-times.ts";
import type { PlayedBatch } from "./simulate-queue.ts";
import type { Trace } from "./trace.ts";

/** Reasons for a loss against the bound, in the order in which they are looked for. */
export const LOSSES = [
  /** Admitted, and dropped or answered late. */
  "wrong prediction",
  /** Refused although a batch of its model, or an idle device, could have answered it in time. */
  "refused though it fitted",
  /** Refused since another model's batch ran, which with one row alone would have ended early enough. */
  "batch too large",
  /** Refused since another model's batch ran, however small. */
  "long network in the way",
  /** Refused since its own model's batch ran for too long. */
  "own batch in the way",
  /** Refused, and then the device began another model's work before its deadline. */
  "another model first",
  /** Refused, and the device began its own model's work for others alone. */
  "device full",
] as const;
export type Loss = (typeof LOSSES)[number];

/**
 * Losses of a played trace against the bound, in requests by reason. For each model the difference to the bound is
 * shared out in proportion to its unanswered requests' reasons. A model that has more answers than in the bound has a
 * negative loss, which counts as `another model first`: its answers were paid for by another model's.
 */
export function attributeLosses(
  trace: Trace,
  outcomes: readonly TraceOutcome[],
  batches: readonly PlayedBatch[],
  serviceTimes: ServiceTimes,
): Record<Loss, number> {
  const known = knowRequests(trace);
  const bound = boundByModel(known, serviceTimes);
  const losses = Object.fromEntries(LOSSES.map((loss) => [loss, 0])) as Record<Loss, number>;
  for (const model of MODELS) {
    const reasons: Loss[] = [];
    let answered = 0;
    for (const [index, request] of known.entries()) {
      if (request.model !== model) continue;
      const { status, latencyMs } = outcomes[index]!;
      if (status === 200 && latencyMs <= trace.requests[index]!.budgetMs) answered++;
      else
        reasons.push(
          status === 503 || status === 422 ? findReason(request, batches, serviceTimes) : "wrong prediction",
        );
    }
    const lost = bound[model] - answered;
    if (lost < 0) losses["another model first"] += lost;
    else for (const reason of reasons) losses[reason] += lost / reasons.length;
  }
  return losses;
}

/** Reason of a refusal, in hindsight: the batches are known that ran. */
function findReason(
  { model, arrivalMs, deadlineMs, rows }: KnownRequest,
  batches: readonly PlayedBatch[],
  times: ServiceTimes,
): Loss {
  const medianMs = (of: PlayedBatch["model"], size: number) => times[of][size - 1] ?? Infinity;
  const ownMs = medianMs(model, rows);
  const running = batches.find(({ startedMs, endedMs }) => startedMs <= arrivalMs && arrivalMs < endedMs);
  if (running !== undefined && running.endedMs + ownMs > deadlineMs) {
    if (running.model === model) return "own batch in the way";
    const isLarge = running.startedMs + medianMs(running.model, 1) + ownMs <= deadlineMs;
    return isLarge ? "batch too large" : "long network in the way";
  }
  const later = batches.filter(({ startedMs }) => startedMs >= arrivalMs && startedMs < deadlineMs);
  const hasRoom = later.some((batch) => {
    const grownMs = batch.endedMs + medianMs(model, batch.rows + rows) - medianMs(model, batch.rows);
    return batch.model === model && grownMs <= deadlineMs;
  });
  let freeAtMs = Math.max(arrivalMs, running?.endedMs ?? 0);
  const isIdle = [...later.map(({ startedMs }) => startedMs), deadlineMs].some((untilMs, index) => {
    const idleMs = untilMs - freeAtMs;
    freeAtMs = later[index]?.endedMs ?? untilMs;
    return idleMs >= ownMs;
  });
  if (hasRoom || isIdle) return "refused though it fitted";
  return later.some((batch) => batch.model !== model) ? "another model first" : "device full";
}
