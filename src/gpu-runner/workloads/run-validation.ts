import { ProblemError } from "../../protocol/problem.ts";
import type { ValidationSpec } from "../../protocol/validation.ts";
import { validateKernel } from "../validation/validate-kernel.ts";
import { validateModel } from "../validation/validate-model.ts";
import type { Workload } from "./workload.ts";

/** What is not over so long after its time, drivers and devices let go of. */
const GRACE_MS = 5_000;

/**
 * Puts a model or kernel under the scenarios that are asked for, proved first, and judges what was measured. Throws
 * `backend-failed` where it answers wrong, and where the scenarios are not over in time.
 */
export const runValidation: Workload<ValidationSpec> = async (spec, outer) => {
  const { subject, timeoutMs } = spec;
  const endMs = performance.now() + timeoutMs;
  const late = new AbortController();
  const reason = new ProblemError("backend-failed", `The validation took longer than ${timeoutMs} ms.`);
  const timer = setTimeout(() => late.abort(reason), timeoutMs + GRACE_MS);
  const context = { ...outer, signal: AbortSignal.any([outer.signal, late.signal]) };
  try {
    if (subject.kind === "kernel") return await validateKernel(spec, subject, endMs, context);
    return await validateModel(spec, subject, endMs, context);
  } finally {
    clearTimeout(timer);
  }
};
