import { fitProfile } from "../budget/profile-fit.ts";
import type { QueuedJob } from "./job-store.ts";
import type { KnownRunner } from "./runner-table.ts";

/** Whether a runner may take a job: pinned to it or to nobody, fits the profile, has the kernel. */
export function mayTake(job: QueuedJob, runner: KnownRunner): boolean {
  const { spec, profile } = job;
  if (spec.runnerId !== undefined && spec.runnerId !== runner.id) return false;
  if (profile !== null && !fitProfile(profile, runner.capabilities).fits) return false;
  if (spec.kind === "benchmark") return runner.capabilities.kernels.some((kernel) => kernel.name === spec.kernel);
  return true;
}
