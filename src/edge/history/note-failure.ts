import type { JobSpec } from "../../protocol/job.ts";
import type { Problem } from "../../protocol/problem.ts";
import { openDatabase } from "../store/database.ts";
import { isKernelId, markKernelInvalid } from "../store/kernel-store.ts";

/** Tells a submitted kernel's owner by its record why a benchmark of it failed, if the kernel is to blame. */
export async function noteFailure(binding: D1Database, spec: JobSpec, problem: Problem): Promise<void> {
  const blamesKernel = problem.code.startsWith("kernel-");
  if (spec.kind !== "benchmark" || !isKernelId(spec.kernel) || !blamesKernel) return;
  await markKernelInvalid(openDatabase(binding), spec.kernel, problem);
}
