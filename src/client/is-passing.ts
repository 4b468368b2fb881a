import { ProblemError, PROBLEMS } from "../protocol/problem.ts";

/** Whether trying again may help; fetch throws a TypeError when the network is at fault. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ProblemError) return PROBLEMS[error.problem.code].retryable;
  return error instanceof TypeError;
}
