import { type ProblemCode, ProblemError } from "../../../protocol/wire/problem.ts";

/** Whether a kernel that runs at smaller sizes failed because of its size: for lack of memory, or by a limit. */
export function isBeyondMemory(error: unknown): error is ProblemError {
  return error instanceof ProblemError && ["out-of-memory", "kernel-invalid"].includes(error.problem.code);
}

/** Problem code of each kind of GPU error; the first is popped last and has the lowest precedence. */
const CODES = {
  internal: "backend-failed",
  validation: "kernel-invalid",
  // Use of an unavailable buffer is invalid too: this is the cause.
  "out-of-memory": "out-of-memory",
} as const satisfies Record<GPUErrorFilter, ProblemCode>;

const FILTERS = Object.keys(CODES) as GPUErrorFilter[];

/**
 * Runs work on the device and throws its errors: `out-of-memory`, `kernel-invalid` for violations of WebGPU's rules,
 * `backend-failed` for failures of the driver. An error thrown by the work itself counts where the device reports none,
 * or where it is a problem other than memory. Scopes are a stack of the device, so only one piece of work may run at a
 * time.
 */
export async function withErrorScopes<Result>(
  device: GPUDevice,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  for (const filter of FILTERS) device.pushErrorScope(filter);
  const [outcome] = await Promise.allSettled([(async () => work())()]);
  let problem: ProblemError | null = null;
  for (const filter of FILTERS.toReversed()) {
    const error = await device.popErrorScope();
    if (error !== null) problem ??= new ProblemError(CODES[filter], error.message || filter);
  }
  const own = outcome.status === "rejected" && outcome.reason instanceof ProblemError ? outcome.reason : null;
  if (problem !== null) throw own !== null && problem.problem.code !== "out-of-memory" ? own : problem;
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}
