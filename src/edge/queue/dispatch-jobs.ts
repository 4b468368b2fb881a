import { armBy, toInstant } from "../clock.ts";
import { logFailure } from "../log-failure.ts";
import { assignJobs, isFit } from "./assign-jobs.ts";
import type { QueuedJob } from "./job-rows.ts";
import * as machine from "./lease-machine.ts";
import type { QueueParts } from "./queue-parts.ts";
import { traceOffer } from "./queue-tables.ts";
import type { KnownRunner } from "./queue-rpc.ts";

const ENDED_JOBS_KEPT = 10_000;
/** Ended jobs kept of each project, however many others end. */
const ENDED_PROJECT_JOBS_KEPT = 1_000;

/**
 * Assigns waiting jobs to these runners' free slots, the projects in turn. An offer that does not arrive is revoked.
 */
export async function dispatchJobs(queue: QueueParts, runners?: readonly KnownRunner[]): Promise<void> {
  const { store, standings, outside } = queue;
  if (!store.hasQueued()) return;
  const nowMs = outside.now();
  const quarantines = standings.quarantines(nowMs);
  const known = (runners ?? queue.runners.list()).filter((runner) => runner.online && !runner.draining);
  const ready = known.filter(({ id }) => !quarantines.has(id));
  // No other event marks the end of a quarantine.
  if (ready.length < known.length)
    await armQueue(queue, Math.min(...[...quarantines.values()].map(({ untilMs }) => untilMs)));
  if (ready.length === 0) return;
  const { fleet } = queue.runners;
  const everyone = queue.runners.list();
  const waiting = store.queuedFor(new Set(ready.map(({ id }) => id)), fleet);
  // Jobs that wait for a runner which does not exist would be read at each dispatch, thousands of them.
  const skip = (job: QueuedJob) => {
    if (!isFit(job, everyone)) store.markUnfit(job.record.id, fleet);
  };
  const times = queue.turns.read(nowMs);
  const pairs = assignJobs({ waiting, runners: ready, leased: store.leased(), turnOf: times.turnOf, skip }, nowMs);
  const shared = pairs
    .filter(({ runner }) => runner.shared)
    .map(({ job }) => ({ id: job.record.id, project: job.project }));
  queue.turns.begin(shared, times, nowMs);
  await Promise.all(pairs.map(({ job, runner }) => offerJob(queue, job, runner)));
}

async function offerJob(queue: QueueParts, job: QueuedJob, runner: KnownRunner): Promise<void> {
  const { store, log, outside } = queue;
  const createdAt = toInstant(store.createdAtMs(job.record.id));
  const granted = machine.grantLease(job.record, runner.id, outside.now(), queue.leaseMs);
  if (runner.jobsLeft !== null) queue.runners.setJobsLeft(runner.id, runner.jobsLeft - 1);
  log.apply(job.record, granted, null);
  await armQueue(queue);
  const lease = { jobId: granted.id, epoch: granted.epoch };
  const scope = outside.scopeOf(queue.traces.find(granted.id));
  const about = { id: granted.id, spec: job.spec, attempt: granted.attempt, createdAt };
  const delivery = await traceOffer(scope, about, (trace) =>
    outside
      .linkOf(runner.id)
      .offer({ lease, attempt: granted.attempt, spec: job.spec, ...trace })
      .catch(() => "failed" as const),
  );
  if (delivery === "sent") return;
  if (runner.jobsLeft !== null) queue.runners.setJobsLeft(runner.id, runner.jobsLeft);
  if (delivery === "offline") queue.runners.setOnline(runner.id, false);
  const current = store.findRecord(granted.id);
  if (current !== null && machine.holdsLease(current, lease, runner.id)) {
    log.apply(current, machine.revokeLease(current), "The runner could not be reached.");
  }
  await armQueue(queue, outside.now() + queue.heartbeatMs);
}

/** The queue's alarm: ends expired leases, deletes old jobs and dispatches waiting ones. */
export async function ringQueue(queue: QueueParts): Promise<void> {
  const { store, log, traces, outside } = queue;
  const nowMs = outside.now();
  try {
    for (const job of store.leased()) {
      const after = machine.expireLease(job, nowMs);
      if (after !== job) log.apply(job, after, after.problem?.detail ?? null);
    }
    store.prune(ENDED_JOBS_KEPT, ENDED_PROJECT_JOBS_KEPT);
    traces.prune();
    store.moveResults();
    await dispatchJobs(queue);
  } catch (error) {
    // Without another alarm, no lease would end and no waiting job begin; the platform tries a failed one six times.
    logFailure("queue-alarm-failed", error);
    await armBy(outside.alarm, nowMs + queue.heartbeatMs, nowMs);
    return;
  }
  await armQueue(queue);
}

/** Sets the one alarm: at the earliest lease expiry, or sooner where something else is due. */
async function armQueue({ store, outside }: QueueParts, dueMs = Number.POSITIVE_INFINITY): Promise<void> {
  const nowMs = outside.now();
  const atMs = Math.min(dueMs, ...store.leased().map((job) => job.leaseUntilMs ?? Number.POSITIVE_INFINITY));
  await armBy(outside.alarm, atMs, nowMs);
}
