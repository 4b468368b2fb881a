import { type ProblemCode, ProblemError } from "../../protocol/problem.ts";

/** What each kind of GPU error means for the caller. */
const CODES = {
  validation: "kernel-invalid",
  "out-of-memory": "backend-failed",
  internal: "backend-failed",
} as const satisfies Record<GPUErrorFilter, ProblemCode>;

const FILTERS = Object.keys(CODES) as GPUErrorFilter[];

/**
 * Runs work on the device and throws what went wrong in it: `kernel-invalid` for what breaks WebGPU's
 * rules, `backend-failed` for lack of memory and failures of the driver. Scopes are a stack of the
 * device, so only one piece of work may run at a time.
 */
export async function withErrorScopes<Result>(
  device: GPUDevice,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  for (const filter of FILTERS) device.pushErrorScope(filter);
  let problem: ProblemError | null = null;
  let result: Result;
  try {
    result = await work();
  } finally {
    for (const filter of FILTERS.toReversed()) {
      const error = await device.popErrorScope();
      if (error !== null) problem = new ProblemError(CODES[filter], error.message || filter);
    }
  }
  if (problem !== null) throw problem;
  return result;
}
