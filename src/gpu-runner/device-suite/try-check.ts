import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Check } from "./check.ts";

/** Longest reason in a report; a compiler's messages may be longer. */
const MOST_REASON = 2_000;

/** Runs one check, which returns its figures; whatever it throws is the reason why it failed. */
export async function tryCheck(
  part: string,
  name: string,
  run: () => Promise<NonNullable<Check["figures"]>>,
): Promise<Check> {
  const startedMs = performance.now();
  const took = () => performance.now() - startedMs;
  try {
    const figures = await run();
    return { part, name, outcome: "passed", figures, durationMs: took() };
  } catch (error) {
    return { part, name, outcome: "failed", reason: explain(error), durationMs: took() };
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
