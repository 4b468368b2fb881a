import { ProblemError } from "../../protocol/wire/problem.ts";
import { untilAborted } from "../device-host/device-lives.ts";
import type { Check, SuiteContext } from "./check.ts";

/** What a check found; one that does not apply here says why. Anything else is thrown. */
export type Finding = { readonly figures: NonNullable<Check["figures"]> } | { readonly skipped: string };

/** A check to be made: its place in the report and its time limit. */
export interface CheckPlan {
  readonly part: string;
  readonly name: string;
  readonly limitMs: number;
}

/**
 * Makes one check. It fails where the work throws, or has not ended within `limitMs`, after which the work's own signal
 * is aborted. It is skipped where the whole suite ended first.
 */
export async function runCheck(
  { part, name, limitMs }: CheckPlan,
  { signal, say }: Pick<SuiteContext, "signal" | "say">,
  work: (signal: AbortSignal) => Promise<Finding>,
): Promise<Check> {
  say(`${part}: ${name}`);
  const startedMs = performance.now();
  const limit = AbortSignal.timeout(limitMs);
  const ended = AbortSignal.any([signal, limit]);
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
    if (signal.aborted) return close({ outcome: "skipped", reason: "The suite ended first." });
    if (limit.aborted) return close({ outcome: "failed", reason: `It did not end within ${limitMs} ms.` });
    return close({ outcome: "failed", reason: describeError(error) });
  }
}

function describeError(error: unknown): string {
  if (error instanceof ProblemError) return `${error.problem.code}: ${error.problem.detail}`;
  return error instanceof Error ? error.message : String(error);
}
