import { ProblemError } from "../wire/problem.ts";

/** A budget among the parameters of a request. Quotes within strings are escaped, so none of them looks like one. */
const NAMED_BUDGETS = /"(budget_ms|timeout)"\s*:\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;
/** Parameters stand before or behind the data. */
const GLIMPSED_BYTES = 1_024;
/** Part of a budget that may have passed before a request begins: the rest is for the answer. */
const WAITED_SHARE = 0.5;

/**
 * Refuses a request of the Open Inference Protocol that waited for the server for more than half of its budget, without
 * parsing it: that takes a large part of the time of an answer, for which others wait. `headerLength` is the length of
 * the JSON part, null where all of the body is. A text that names no budget at its ends, or several, is let through.
 * Throws `overloaded`.
 */
export function refuseLate(body: Uint8Array, headerLength: string | null, waitedMs: number): void {
  if (waitedMs <= 0) return;
  const budgetMs = glimpseBudgetMs(headerLength === null ? body : body.subarray(0, Number(headerLength)));
  if (budgetMs === null || waitedMs <= WAITED_SHARE * budgetMs) return;
  const detail = `It waited ${Math.ceil(waitedMs)} ms before it could be read, more than half of its budget.`;
  throw new ProblemError("overloaded", detail, { retryAfterMs: Math.ceil(waitedMs) });
}

function glimpseBudgetMs(json: Uint8Array): number | null {
  const isShort = json.byteLength <= 2 * GLIMPSED_BYTES;
  const ends = isShort ? [json] : [json.subarray(0, GLIMPSED_BYTES), json.subarray(-GLIMPSED_BYTES)];
  const named = ends.flatMap((end) => [...new TextDecoder().decode(end).matchAll(NAMED_BUDGETS)]);
  const values = (name: string) => named.filter((match) => match[1] === name).map((match) => Number(match[2]));
  const ours = values("budget_ms");
  // Ours comes first; a timeout is in microseconds, and one of 0 is none.
  const budgets = ours.length > 0 ? ours : values("timeout").map((us) => us / 1_000);
  const [budgetMs] = budgets;
  return budgetMs !== undefined && budgetMs > 0 && budgets.every((each) => each === budgetMs) ? budgetMs : null;
}
