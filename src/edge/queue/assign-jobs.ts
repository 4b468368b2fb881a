import type { Device } from "../../protocol/hardware.ts";
import { fitProfile } from "../budget/profile-fit.ts";
import { devicesFor, type KernelTarget, kernelTargetOf, quarantineOf } from "./kernel-devices.ts";
import type { QueuedJob } from "./job-rows.ts";
import type { JobRecord } from "./lease-machine.ts";
import { takesEnvironment } from "./resolve-environment.ts";
import type { KnownRunner } from "./runner-table.ts";

/** What jobs are given out by. */
interface Assignable {
  /** Of each project the oldest first. */
  readonly waiting: readonly QueuedJob[];
  readonly runners: readonly KnownRunner[];
  readonly leased: readonly JobRecord[];
  /** By project: the higher, the later it was last given a runner. */
  readonly turns: ReadonlyMap<string, number>;
}

interface Pair {
  readonly job: QueuedJob;
  readonly runner: KnownRunner;
}

/**
 * Pairs waiting jobs with runners that may take them and have room beside what they hold under lease. The projects have
 * their turns, the one first whose last turn is longest ago: so one with a thousand jobs keeps another waiting for the
 * next free slot and no longer.
 */
export function assignJobs({ waiting, runners, leased, turns }: Assignable, nowMs: number): Pair[] {
  const held = Map.groupBy(leased, (job) => job.runnerId);
  const room = new Map(
    runners.map(({ id, capabilities }) => [id, capabilities.jobSlots - (held.get(id)?.length ?? 0)]),
  );
  /** A project's first job for which there is room; those before it would find none later, either. */
  const takeNext = (jobs: QueuedJob[]): Pair | null => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const next = job;
      const runner = runners.find((each) => (room.get(each.id) ?? 0) > 0 && mayTake(next, each, nowMs));
      if (runner === undefined) continue;
      room.set(runner.id, (room.get(runner.id) ?? 0) - 1);
      return { job, runner };
    }
    return null;
  };
  const line = lineUp(waiting, turns);
  const pairs: Pair[] = [];
  for (let jobs = line.shift(); jobs !== undefined; jobs = line.shift()) {
    const pair = takeNext(jobs);
    if (pair === null) continue;
    pairs.push(pair);
    line.push(jobs);
  }
  return pairs;
}

/** Jobs by project, the project first whose last turn is longest ago; of two that had none, the one with the older job. */
function lineUp(waiting: readonly QueuedJob[], turns: ReadonlyMap<string, number>): QueuedJob[][] {
  const turnOf = ([job]: readonly QueuedJob[]) => turns.get(job?.project ?? "") ?? 0;
  const idOf = ([job]: readonly QueuedJob[]) => job?.record.id ?? "";
  return [...Map.groupBy(waiting, ({ project }) => project).values()].toSorted(
    (a, b) => turnOf(a) - turnOf(b) || (idOf(a) < idOf(b) ? -1 : 1),
  );
}

/**
 * Whether a runner may take a job: it works for the job's project, the job is pinned to it or to nobody, it fits the
 * profile and has a device for the kernel.
 */
function mayTake(job: QueuedJob, runner: KnownRunner, nowMs: number): boolean {
  const { spec, profile } = job;
  if (runner.project !== job.project && !runner.shared) return false;
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
