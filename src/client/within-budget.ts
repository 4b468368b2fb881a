import { ProblemError } from "../protocol/problem.ts";

export interface BudgetOptions {
  /** Added to the budget, in milliseconds, for the way to the edge and back; the edge counts from the arrival. */
  readonly marginMs?: number;
  readonly signal?: AbortSignal;
}

/** Room for the way of a request with its body, and of its reply. */
export const REPLY_MARGIN_MS = 2_000;

/**
 * Does work that has to end with a budget: its signal aborts once no reply can come in time any more, or when the
 * caller's does. The edge itself answers when a budget ends, so this is for the case that nothing is heard of it.
 * Throws `budget-exceeded` where the time is over, and the caller's reason where that aborted.
 */
export async function withinBudget<Value>(
  budgetMs: number,
  { marginMs = REPLY_MARGIN_MS, signal }: BudgetOptions,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const ending = new AbortController();
  const waitMs = budgetMs + marginMs;
  const detail = `No reply came within the budget of ${budgetMs} ms and ${marginMs} ms for the way.`;
  const timer = setTimeout(() => ending.abort(new ProblemError("budget-exceeded", detail)), waitMs);
  try {
    return await work(signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]));
  } finally {
    clearTimeout(timer);
  }
}
