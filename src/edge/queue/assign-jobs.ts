import { mayRun } from "../kinds/registry.ts";
import { fitProfile } from "../store/fleet/profile-fit.ts";
import type { QueuedJob } from "./job-rows.ts";
import type { JobRecord } from "./lease-machine.ts";
import type { KnownRunner } from "./queue-rpc.ts";

/** What jobs are given out by. */
interface Assignable {
  /** By project, of each the oldest first; of two that had no turn, the project that stands first has the next one. */
  readonly waiting: ReadonlyMap<string, Iterable<QueuedJob>>;
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
 * next free slot and no longer. Takes no more of `waiting` than there is room for.
 */
export function assignJobs({ waiting, runners, leased, turns }: Assignable, nowMs: number): Pair[] {
  const held = Map.groupBy(leased, (job) => job.runnerId);
  const room = new Map(
    runners.map(({ id, capabilities }) => [id, capabilities.jobSlots - (held.get(id)?.length ?? 0)]),
  );
  let free = runners.filter(({ id }) => (room.get(id) ?? 0) > 0);
  /** A project's first job for which there is room; those before it would find none later, either. */
  const takeNext = (project: string, jobs: Iterator<QueuedJob>): Pair | null => {
    // Asked for a job that nobody can have, the queue would read them all.
    if (!free.some((runner) => worksFor(runner, project))) return null;
    for (let next = jobs.next(); next.done !== true; next = jobs.next()) {
      const job = next.value;
      const runner = free.find((each) => mayTake(job, each, nowMs));
      if (runner === undefined) continue;
      const left = (room.get(runner.id) ?? 0) - 1;
      room.set(runner.id, left);
      if (left === 0) free = free.filter(({ id }) => id !== runner.id);
      return { job, runner };
    }
    return null;
  };
  const turnOf = (project: string) => turns.get(project) ?? 0;
  const line = [...waiting]
    .toSorted(([a], [b]) => turnOf(a) - turnOf(b))
    .map(([project, jobs]) => ({ project, jobs: jobs[Symbol.iterator]() }));
  const pairs: Pair[] = [];
  for (let first = line.shift(); first !== undefined; first = line.shift()) {
    const pair = takeNext(first.project, first.jobs);
    if (pair === null) continue;
    pairs.push(pair);
    line.push(first);
  }
  return pairs;
}

function worksFor(runner: KnownRunner, project: string): boolean {
  return runner.shared || runner.project === project;
}

/**
 * Whether a runner may take a job: it works for the job's project, the job is pinned to it or to nobody, it fits the
 * profile and has a device for the job.
 */
function mayTake(job: QueuedJob, runner: KnownRunner, nowMs: number): boolean {
  const { spec, profile } = job;
  if (!worksFor(runner, job.project)) return false;
  if (spec.runnerId !== undefined && spec.runnerId !== runner.id) return false;
  if (profile !== null && !fitProfile(profile, runner.capabilities).fits) return false;
  return mayRun(spec, runner.capabilities, nowMs);
}
