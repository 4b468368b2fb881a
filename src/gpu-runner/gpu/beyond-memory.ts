import { ProblemError } from "../../protocol/problem.ts";

/** Whether a size of a kernel that runs at smaller ones failed for its size: for want of memory, or by a limit. */
export function isBeyondMemory(error: unknown): error is ProblemError {
  return error instanceof ProblemError && ["out-of-memory", "kernel-invalid"].includes(error.problem.code);
}
