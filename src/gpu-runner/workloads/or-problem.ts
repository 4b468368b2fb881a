import { ProblemError } from "../../protocol/problem.ts";

/** A problem that a device has is an answer, too; the end of the work, which the signal tells, is none. */
export async function orProblem<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | ProblemError> {
  try {
    return await promise;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProblemError) return error;
    throw error;
  }
}
