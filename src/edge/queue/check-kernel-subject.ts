import type { Capabilities } from "../../protocol/hardware.ts";
import type { JobSubject } from "../../protocol/job-subject.ts";
import { type FieldError, ProblemError } from "../../protocol/problem.ts";
import { checkBenchmark } from "./check-benchmark.ts";

type KernelSubject = Extract<JobSubject, { kind: "kernel" }>;

/** Checks a kernel that is the subject of a job like one that is benchmarked, and throws what that throws. */
export function checkKernelSubject(
  { kernel, shape, dtype, variant }: KernelSubject,
  runners: readonly Capabilities[],
): FieldError[] {
  try {
    return checkBenchmark({ kernel, shape, dtype, variant, axes: undefined }, runners).map(inSubject);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const { code, detail, errors = [] } = error.problem;
    throw new ProblemError(code, detail, { errors: errors.map(inSubject) });
  }
}

function inSubject({ pointer, message }: FieldError): FieldError {
  return { pointer: pointer.replace("#/", "#/subject/"), message };
}
