import { mayRun } from "../kinds/registry.ts";
import { fitProfile } from "../store/fleet/profile-fit.ts";
import type { QueuedJob } from "./job-rows.ts";
import type { JobRecord } from "./lease-machine.ts";
import type { KnownRunner } from "./queue-rpc.ts";

/** Input of an assignment. */
interface Assignable {
  /** Waiting jobs by project, oldest first. Between two projects without a turn, the first in the map is next. */
  readonly waiting: ReadonlyMap<string, Iterable<QueuedJob>>;
  readonly runners: readonly KnownRunner[];
  readonly leased: readonly JobRecord[];
  /** Turn of a project: the least is next. */
  readonly turnOf: (project: string) => number;
  /** Called for a job that no runner with room may take. */
  readonly skip?: (job: QueuedJob) => void;
}

interface Pair {
  readonly job: QueuedJob;
  readonly runner: KnownRunner;
}

/**
 * Pairs waiting jobs with runners that may take them and have free slots beside their leases. Projects take turns: one
 * with a thousand jobs delays another until the next free slot only. Reads no more of `waiting` than there is room for.
 */
export function assignJobs({ waiting, runners, leased, turnOf, skip }: Assignable, nowMs: number): Pair[] {
  const held = Map.groupBy(leased, (job) => job.runnerId);
  const room = new Map(
    runners.map(({ id, capabilities: { jobSlots }, jobsLeft }) => [
      id,
      Math.min(jobSlots - (held.get(id)?.length ?? 0), jobsLeft ?? jobSlots),
    ]),
  );
  let free = runners.filter(({ id }) => (room.get(id) ?? 0) > 0);
  /** A project's first job with room; skipped jobs are not tried again, since room only shrinks. */
  const takeNext = (project: string, jobs: Iterator<QueuedJob>): Pair | null => {
    // Without a free runner for the project, the search would read all its jobs.
    if (!free.some((runner) => worksFor(runner, project))) return null;
    for (let next = jobs.next(); next.done !== true; next = jobs.next()) {
      const job = next.value;
      const runner = free.find((each) => mayTake(job, each, nowMs));
      if (runner === undefined) {
        skip?.(job);
        continue;
      }
      const left = (room.get(runner.id) ?? 0) - 1;
      room.set(runner.id, left);
      if (left === 0) free = free.filter(({ id }) => id !== runner.id);
      return { job, runner };
    }
    return null;
  };
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
 * Whether a runner of this fleet could ever take a job as it is now, if it were online and idle, and its quarantines
 * had ended.
 */
export function isFit(job: QueuedJob, fleet: readonly KnownRunner[]): boolean {
  return fleet.some((runner) => mayTake(job, runner, Number.POSITIVE_INFINITY));
}

/**
 * Whether a runner may take a job: it works for the job's project, is the pinned runner if any, fits the profile, and
 * has a device for the job.
 */
function mayTake(job: QueuedJob, runner: KnownRunner, nowMs: number): boolean {
  const { spec, profile } = job;
  if (!worksFor(runner, job.project)) return false;
  if (spec.runnerId !== undefined && spec.runnerId !== runner.id) return false;
  if (profile !== null && !fitProfile(profile, runner.capabilities).fits) return false;
  return mayRun(spec, runner.capabilities, nowMs);
}
