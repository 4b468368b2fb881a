import type { Device } from "../../protocol/hardware.ts";
import { fitProfile } from "../budget/profile-fit.ts";
import { devicesFor, type KernelTarget, kernelTargetOf, quarantineOf } from "./kernel-devices.ts";
import type { QueuedJob } from "./job-store.ts";
import type { JobRecord } from "./lease-machine.ts";
import { takesEnvironment } from "./resolve-environment.ts";
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
