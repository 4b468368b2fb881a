import type { Job, JobProgress } from "../../protocol/jobs/job.ts";
import type { Lease } from "../../protocol/link.ts";
import { toProblem } from "../../protocol/wire/problem.ts";
import { HeavyPlaces } from "../heavy-places.ts";
import { LONG_OUTCOME } from "../link/long-text.ts";
import { logFailure } from "../log-failure.ts";
import { dispatchJobs } from "./dispatch-jobs.ts";
import * as machine from "./lease-machine.ts";
import type { HeldJob, QueueParts } from "./queue-parts.ts";
import type { PassedOutcome } from "./queue-rpc.ts";
import { changeStanding } from "./queue-runners.ts";
import { blamesRunner, noteFailedJob, noteSuccess } from "./runner-standing.ts";

/** Saves a job's progress while its lease holds. */
export function noteProgress({ store, log }: QueueParts, runnerId: string, lease: Lease, progress: JobProgress): void {
  const job = store.findRecord(lease.jobId);
  if (job === null || !machine.holdsLease(job, lease, runnerId)) return;
  store.saveProgress(job.id, progress);
  log.record(job.id, "progress", null, progress);
}

/**
 * Accepts an outcome: true once it is stored, false where its lease has ended, null where it must come again. Results are
 * in the history before the job counts as ended; every step may be repeated.
 */
export async function settleJob(
  queue: QueueParts,
  runnerId: string,
  { lease, outcome }: PassedOutcome,
): Promise<boolean | null> {
  const { store, outside } = queue;
  const job = store.findRecord(lease.jobId);
  if (job === null) return false;
  const wasStored = job.state === "succeeded" && job.epoch === lease.epoch && job.runnerId === runnerId;
  if (wasStored) return true;
  if (!machine.holdsLease(job, lease, runnerId)) return false;
  const nowMs = outside.now();
  // What has run for longer than a lease was begun, whatever its runner says.
  const isYoung = nowMs - (store.leasedAtMs(job.id) ?? nowMs) < queue.leaseMs;
  if (!outcome.ok && outcome.declined === true && isYoung)
    return takeBack(queue, job, runnerId, outcome.problem.detail);
  const settle = () => settleHeld(queue, runnerId, { lease, outcome }, nowMs);
  if (!outcome.ok || lengthOf(outcome) <= LONG_OUTCOME) return settle();
  // Links in many isolates may each pass one on.
  const call = { project: store.projectOf(job.id) ?? "", waitUntil: (work: Promise<unknown>) => outside.later(work) };
  return longOutcomes.doIn(call, settle).catch((error: unknown) => {
    if (toProblem(error).code === "overloaded") return null;
    throw error;
  });
}

/** Outcomes with results, traces and samples of megabytes. */
const longOutcomes = new HeavyPlaces("long outcomes", { ofOne: 1, ofAll: 2, leaseMs: 60_000 }, { ofOne: 2, ofAll: 4 });

function lengthOf({ resultText = "", trace = "", samples = "" }: Extract<PassedOutcome["outcome"], { ok: true }>) {
  return resultText.length + trace.length + samples.length;
}

/** Stores an outcome that came at `nowMs`, if its lease still holds. */
async function settleHeld(
  queue: QueueParts,
  runnerId: string,
  { lease, outcome }: PassedOutcome,
  nowMs: number,
): Promise<boolean> {
  const { store, log, outside } = queue;
  const { results } = outside;
  const job = store.findRecord(lease.jobId);
  if (job === null || !machine.holdsLease(job, lease, runnerId)) return job?.state === "succeeded";
  const held = findHeld(queue, job, runnerId);
  // Grants the database a full lease, so that the job is not reassigned while its result is stored.
  if (outcome.ok) store.save(machine.renewLease(job, outside.now(), queue.leaseMs));
  const judged = await results.judge(held.spec, outcome);
  let resultText = "";
  if (judged.ok) resultText = await results.keep(held, judged, nowMs);
  else await results.noteFailure(held, judged.problem);
  // The lease may have ended during the database write: then another runner decides the job's end.
  const current = store.findRecord(job.id);
  if (current === null || !machine.holdsLease(current, lease, runnerId)) return current?.state === "succeeded";
  if (judged.ok) {
    outside.transaction(() => {
      store.saveResult(job.id, resultText);
      log.apply(current, machine.succeed(current, nowMs), null);
    });
    log.announce({ type: "history", id: null }, held.project);
    outside.later(results.search(nowMs));
    await changeStanding(queue, runnerId, noteSuccess);
  } else {
    const { problem } = judged;
    const ranMs = nowMs - (store.leasedAtMs(job.id) ?? nowMs);
    log.apply(current, machine.failAttempt(current, problem, nowMs), problem.detail);
    if (blamesRunner(held.spec, problem))
      await changeStanding(queue, runnerId, (standing) =>
        noteFailedJob(standing, { jobId: job.id, ranMs, problem }, nowMs),
      );
  }
  outside.later(dispatchJobs(queue));
  return true;
}

/** Gives a declined job to another runner, as if it had not been offered; this one gets no more until its hello. */
function takeBack(queue: QueueParts, job: machine.JobRecord, runnerId: string, detail: string): true {
  queue.runners.setDraining(runnerId, true);
  queue.log.apply(job, machine.revokeLease(job), detail);
  queue.outside.later(dispatchJobs(queue));
  return true;
}

function findHeld({ store }: QueueParts, { id, attempt }: machine.JobRecord, runnerId: string): HeldJob {
  const { spec } = store.mustFindJob(id);
  const project = store.projectOf(id);
  if (project === null) throw new Error(`job ${id} is not in the queue`);
  return { id, project, attempt, spec, runnerId };
}

/** Cancels a job of the project, and at its runner if one holds it. */
export async function cancelJob(queue: QueueParts, project: string, id: string): Promise<Job | null> {
  const { store, log, outside } = queue;
  const before = store.projectOf(id) === project ? store.findRecord(id) : null;
  if (before === null) return null;
  if (!machine.hasEnded(before)) {
    log.apply(before, machine.cancel(before, outside.now()), null);
    if (before.runnerId !== null) {
      // A runner whose link fails learns of it by its next heartbeat: the job has ended all the same.
      await outside
        .linkOf(before.runnerId)
        .cancelJob({ jobId: id, epoch: before.epoch })
        .catch(() => undefined);
      outside.later(dispatchJobs(queue));
    }
  }
  return store.findJob(id);
}

/** Cancels all jobs of a project that wait or run: shared runners then serve others. */
export async function cancelJobs(queue: QueueParts, project: string): Promise<void> {
  for (const id of queue.store.unfinishedOf(project)) {
    // One that this release cannot read keeps none of the others.
    await cancelJob(queue, project, id).catch((error: unknown) => logFailure("job-not-cancelled", error, { id }));
  }
}
