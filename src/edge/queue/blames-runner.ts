import type { JobSpec } from "../../protocol/job.ts";
import { type Problem, PROBLEMS } from "../../protocol/problem.ts";
import { isKernelId } from "../store/kernel-store.ts";
import { kernelTargetOf } from "./kernel-devices.ts";

/** Of a runner's faults those that come from what was asked of it, from leaving, or from a quarantine that holds already. */
const EXCUSED = new Set<Problem["code"]>([
  "runner-offline",
  "runner-lost",
  "lease-expired",
  "out-of-memory",
  "kernel-timeout",
  "kernel-quarantined",
  "model-quarantined",
]);

/** Jobs whose faults are the runner's where the kernel is ours; others end so for what their sender wanted of them, too. */
const JUDGED = new Set<JobSpec["kind"]>(["benchmark", "throughput", "tuning"]);

/**
 * Whether the end of a job speaks against its runner: by the problem's fault, and only of jobs that brought nothing of
 * their sender's, nor a time or a pool that may not do. Who sends such could otherwise lock runners out for everybody.
 */
export function blamesRunner(spec: JobSpec, { code }: Problem): boolean {
  if (PROBLEMS[code].fault !== "runner" || EXCUSED.has(code)) return false;
  if (spec.kind === "probe") return true;
  const target = JUDGED.has(spec.kind) ? kernelTargetOf(spec) : null;
  return target !== null && !isKernelId(target.kernel);
}
