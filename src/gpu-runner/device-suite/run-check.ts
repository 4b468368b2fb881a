import { ProblemError } from "../../protocol/wire/problem.ts";
import { untilAborted } from "../device-host/device-lives.ts";
import type { Check, SuiteContext } from "./check.ts";

/** What a check found; one that does not apply here says why. Anything else is thrown. */
export type Finding = { readonly figures: NonNullable<Check["figures"]> } | { readonly skipped: string };

/** A check to be made: its place in the report, and its time limit where the part's own is too long for it. */
export interface CheckPlan {
  readonly part: string;
  readonly name: string;
  readonly limitMs?: number;
}

/** Longest reason in a report; a compiler's messages may be longer. */
const MOST_REASON = 2_000;

/**
 * Makes one check. It fails where the work throws, or has not ended within `limitMs`, after which the work's own signal
 * is aborted. It is skipped where its part ended first.
 */
export async function runCheck(
  { part, name, limitMs }: CheckPlan,
  { signal }: Pick<SuiteContext, "signal">,
  work: (signal: AbortSignal) => Promise<Finding>,
): Promise<Check> {
  const startedMs = performance.now();
  const limit = limitMs === undefined ? null : AbortSignal.timeout(limitMs);
  const ended = limit === null ? signal : AbortSignal.any([signal, limit]);
  const close = (outcome: Pick<Check, "outcome" | "reason" | "figures">): Check => ({
    part,
    name,
    ...outcome,
    durationMs: performance.now() - startedMs,
  });
  try {
    const finding = await untilAborted(work(ended), ended);
    if ("skipped" in finding) return close({ outcome: "skipped", reason: finding.skipped });
    return close({ outcome: "passed", figures: finding.figures });
  } catch (error) {
    if (signal.aborted) return close({ outcome: "skipped", reason: "The part ended first." });
    if (limit?.aborted === true) return close({ outcome: "failed", reason: `It did not end within ${limitMs} ms.` });
    return close({ outcome: "failed", reason: explain(error) });
  }
}

/** A check that cannot be made on this device. */
export function skipCheck(part: string, name: string, reason: string): Check {
  return { part, name, outcome: "skipped", reason, durationMs: 0 };
}

/** Any error in words, with the problem's code where it has one. */
export function explain(error: unknown): string {
  const text =
    error instanceof ProblemError
      ? `${error.problem.code}: ${error.problem.detail}`
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error);
  return text.slice(0, MOST_REASON);
}
