import type { JobSpec } from "../../protocol/job.ts";
import type { Problem, ProblemCode } from "../../protocol/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { openProject } from "../store/database.ts";
import { isKernelId, markKernelInvalid } from "../store/kernel-store.ts";

/** A kernel in quarantine is not among them: that passes. */
const BLAMES_KERNEL: ReadonlySet<ProblemCode> = new Set(["kernel-invalid", "kernel-incorrect", "kernel-timeout"]);

/** Tells a submitted kernel's owner by its record why a benchmark of it failed, if the kernel is to blame. */
export async function noteFailure(env: ProjectEnv, spec: JobSpec, problem: Problem): Promise<void> {
  if (spec.kind !== "benchmark" || !isKernelId(spec.kernel) || !BLAMES_KERNEL.has(problem.code)) return;
  await markKernelInvalid(openProject(env), spec.kernel, problem);
}
