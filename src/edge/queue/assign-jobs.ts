import type { Device } from "../../protocol/hardware.ts";
import { fitProfile } from "../budget/profile-fit.ts";
import { devicesFor, type KernelTarget, kernelTargetOf, quarantineOf } from "./kernel-devices.ts";
import type { QueuedJob } from "./job-store.ts";
import type { JobRecord } from "./lease-machine.ts";
import { takesEnvironment } from "./resolve-environment.ts";
import type { KnownRunner } from "./runner-table.ts";

/**
 * Pairs waiting jobs, oldest first, with runners that may take them and have room beside what they
 * hold under lease. Takes no more of `waiting` than there is room for.
 */
export function assignJobs(
  waiting: Iterable<QueuedJob>,
  runners: readonly KnownRunner[],
  leased: readonly JobRecord[],
  nowMs: number,
): { job: QueuedJob; runner: KnownRunner }[] {
  const held = Map.groupBy(leased, (job) => job.runnerId);
  const room = new Map(
    runners.map(({ id, capabilities }) => [id, capabilities.jobSlots - (held.get(id)?.length ?? 0)]),
  );
  let free = runners.filter(({ id }) => (room.get(id) ?? 0) > 0);
  const pairs: { job: QueuedJob; runner: KnownRunner }[] = [];
  // Asked for a job before there is room for none, the queue would read one that nobody can have.
  if (free.length === 0) return pairs;
  for (const job of waiting) {
    const runner = free.find((candidate) => mayTake(job, candidate, nowMs));
    if (runner === undefined) continue;
    pairs.push({ job, runner });
    const left = (room.get(runner.id) ?? 0) - 1;
    room.set(runner.id, left);
    if (left === 0) free = free.filter(({ id }) => id !== runner.id);
    if (free.length === 0) break;
  }
  return pairs;
}

/** Whether a runner may take a job: pinned to it or to nobody, fits the profile, has a device for the kernel. */
function mayTake(job: QueuedJob, runner: KnownRunner, nowMs: number): boolean {
  const { spec, profile } = job;
  if (spec.runnerId !== undefined && spec.runnerId !== runner.id) return false;
  if (profile !== null && !fitProfile(profile, runner.capabilities).fits) return false;
  const target = kernelTargetOf(spec);
  if (target === null) return hasDevice(spec, runner);
  return quarantineOf(target, devicesOf(spec, target, runner), nowMs) === null;
}

/** A search that names devices runs on any of them. */
function devicesOf(spec: QueuedJob["spec"], target: KernelTarget, { capabilities }: KnownRunner): Device[] {
  const keys = spec.kind === "optimisation" ? spec.space.deviceKeys : undefined;
  if (keys === undefined) return devicesFor(target, capabilities);
  return keys.flatMap((deviceKey) => devicesFor({ ...target, deviceKey }, capabilities));
}

function hasDevice(spec: QueuedJob["spec"], { capabilities }: KnownRunner): boolean {
  const isRollout = spec.kind === "evaluation" || spec.kind === "training";
  if (isRollout && !takesEnvironment(spec.environment, capabilities)) return false;
  const key = spec.kind === "probe" || spec.kind === "validation" ? spec.deviceKey : undefined;
  return key === undefined || capabilities.devices.some((device) => device.key === key);
}
