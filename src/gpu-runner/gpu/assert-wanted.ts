import { ProblemError } from "../../protocol/problem.ts";

/** Throws `cancelled` once nobody wants the job any more. */
export function assertWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new ProblemError("cancelled", "The job was cancelled");
}
