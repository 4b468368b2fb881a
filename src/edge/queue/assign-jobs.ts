import { fitProfile } from "../budget/profile-fit.ts";
import { devicesFor, quarantineOf } from "./kernel-devices.ts";
import type { QueuedJob } from "./job-store.ts";
import type { JobRecord } from "./lease-machine.ts";
import type { KnownRunner } from "./runner-table.ts";

/**
 * Pairs waiting jobs, oldest first, with runners that may take them and have room beside what they
 * hold under lease.
 */
export function assignJobs(
  waiting: readonly QueuedJob[],
  runners: readonly KnownRunner[],
  leased: readonly JobRecord[],
  nowMs: number,
): { job: QueuedJob; runner: KnownRunner }[] {
  const held = Map.groupBy(leased, (job) => job.runnerId);
  const room = new Map(
    runners.map(({ id, capabilities }) => [id, capabilities.jobSlots - (held.get(id)?.length ?? 0)]),
  );
  return waiting.flatMap((job) => {
    const runner = runners.find((candidate) => (room.get(candidate.id) ?? 0) > 0 && mayTake(job, candidate, nowMs));
    if (runner === undefined) return [];
    room.set(runner.id, (room.get(runner.id) ?? 0) - 1);
    return [{ job, runner }];
  });
}

/** Whether a runner may take a job: pinned to it or to nobody, fits the profile, has a device for the kernel. */
function mayTake(job: QueuedJob, runner: KnownRunner, nowMs: number): boolean {
  const { spec, profile } = job;
  if (spec.runnerId !== undefined && spec.runnerId !== runner.id) return false;
  if (profile !== null && !fitProfile(profile, runner.capabilities).fits) return false;
  if (spec.kind === "calibration") return true;
  return quarantineOf(spec, devicesFor(spec, runner.capabilities), nowMs) === null;
}
