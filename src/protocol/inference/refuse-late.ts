import { ProblemError } from "../wire/problem.ts";

/** A budget among the parameters of the Open Inference Protocol. Quotes within strings are escaped, so that none of them looks like one. */
const NAMED_BUDGET = /"(budget_ms|timeout)"\s*:\s*(\d+(?:\.\d+)?)/;
/** Parameters stand before or behind the data. */
const GLIMPSED_BYTES = 1_024;
/** Part of a budget that may have passed before a request is read: the rest is for the answer. */
const WAITED_SHARE = 0.5;

/**
 * Refuses a request that waited for more than half of its budget, without parsing it, which takes a large part of the time
 * of an answer while others wait. A body that names no budget at its ends is let through. Throws `overloaded`.
 */
export async function refuseLate(body: Uint8Array, waitedMs: number): Promise<void> {
  if (waitedMs <= 0) return;
  const ends =
    body.byteLength <= 2 * GLIMPSED_BYTES ? [body] : [body.subarray(0, GLIMPSED_BYTES), body.subarray(-GLIMPSED_BYTES)];
  for (const end of ends) {
    const [, name, number] = NAMED_BUDGET.exec(new TextDecoder().decode(end)) ?? [];
    const budgetMs = Number(number) / (name === "timeout" ? 1_000 : 1);
    // A timeout of 0 is none.
    if (!(budgetMs > 0 && waitedMs > WAITED_SHARE * budgetMs)) continue;
    const detail = `It waited ${Math.ceil(waitedMs)} ms before it could be read, more than half of its budget.`;
    throw new ProblemError("overloaded", detail, { retryAfterMs: Math.ceil(waitedMs) });
  }
}
