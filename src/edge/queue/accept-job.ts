import { CalibrationSpec } from "../../protocol/jobs/calibration.ts";
import { createId } from "../../protocol/wire/id.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { createProblem, type Problem } from "../../protocol/wire/problem.ts";
import { isPlacedHere, type OwedVersion } from "../fleet/plan-runner.ts";
import type { ResolvedRule } from "../store/models/version-store.ts";
import { DEFAULT_QUOTAS } from "../store/quotas/default-quotas.ts";
import { dispatchJobs } from "./dispatch-jobs.ts";
import type { QueueParts } from "./queue-parts.ts";
import type { Submission, SubmitOutcome } from "./queue-rpc.ts";

/** Job of an earlier request with this idempotency key, or the problem that the key was for another one; null for none. */
export function findSubmitted(
  { store }: QueueParts,
  idempotencyKey: string | null,
  requestHash: string,
): SubmitOutcome | null {
  const known = idempotencyKey === null ? null : store.findByIdempotencyKey(idempotencyKey);
  if (known === null) return null;
  if (known.requestHash === requestHash) return { ok: true, job: store.mustFindJob(known.id) };
  const detail = "This Idempotency-Key came with another request before.";
  const errors = [{ pointer: "header/idempotency-key", message: "was used for another job" }];
  return { ok: false, problem: createProblem("idempotency-key-reused", detail, { errors }) };
}

/** Accepts a job: it is on disk before this returns. The same idempotency key returns the same job. */
export function acceptJob(queue: QueueParts, submission: Submission): SubmitOutcome {
  const { store, log, traces, maxAttempts, outside } = queue;
  const { traceparent = null, mostQueued = DEFAULT_QUOTAS.queuedJobs, ...asked } = submission;
  const known = findSubmitted(queue, asked.idempotencyKey, asked.requestHash);
  if (known !== null) return known;
  const full = findFull(queue, asked, mostQueued);
  if (full !== null) return { ok: false, problem: full };
  const nowMs = outside.now();
  const id = createId("job", nowMs);
  outside.transaction(() => {
    store.insert({ ...asked, id, createdAtMs: nowMs, maxAttempts });
    log.record(id, "queued", null);
    if (traceparent !== null) traces.keep(id, traceparent);
  });
  outside.later(dispatchJobs(queue));
  return { ok: true, job: store.mustFindJob(id) };
}

/**
 * Problem that no job of a project can be accepted; null where one can. The edge's own jobs, a calibration for each model
 * and runner, have a place of their own: callers cannot fill it, and it takes nothing from them.
 */
function findFull({ store }: QueueParts, { project, submittedBy }: Submission, mostQueued: number): Problem | null {
  const retryAfterMs = 10_000;
  const own = store.countQueuedOf(project, submittedBy === null);
  if (own >= mostQueued) {
    const quota = { name: "queuedJobs", used: own, limit: mostQueued };
    const detail = `${own} jobs of the project ${project} wait already, and its quota \`queuedJobs\` is ${mostQueued}.`;
    return createProblem("queue-full", detail, { retryAfterMs, quota });
  }
  // A few jobs of each project are accepted even when the queue is full.
  if (submittedBy === null || own < LIMITS.queuedProjectFloor) return null;
  if (store.countQueued() < LIMITS.queuedJobs) return null;
  return createProblem("queue-full", `${LIMITS.queuedJobs} jobs wait already.`, { retryAfterMs });
}

/** Queues the calibrations that a runner owes, except those already queued or running. */
export function ensureCalibrations(queue: QueueParts, runnerId: string, owed: readonly OwedVersion[]): void {
  // One that was removed meanwhile would leave them waiting for ever; one that leaves is not worth measuring.
  const runner = queue.runners.find(runnerId);
  if (runner === null || runner.jobsLeft !== null) return;
  for (const { id, project } of owed) {
    if (queue.store.findCalibration(["queued", "leased"], runnerId, id) !== null) continue;
    calibrate(queue, project, runnerId, id);
  }
}

/** Calibration of a version on a runner that has not begun: the queued one, else a new one. */
export function calibrateAnew(
  queue: QueueParts,
  project: string,
  runnerId: string,
  modelVersionId: string,
): SubmitOutcome {
  const waiting = queue.store.findCalibration(["queued"], runnerId, modelVersionId);
  return waiting === null
    ? calibrate(queue, project, runnerId, modelVersionId)
    : { ok: true, job: queue.store.mustFindJob(waiting) };
}

/**
 * Queues a calibration of a version with a new file, on every runner where its rule places it. A queued calibration
 * will measure the new file; a running one uses the old file, so another is queued.
 */
export function calibrateEverywhere(
  queue: QueueParts,
  project: string,
  modelVersionId: string,
  rule: ResolvedRule,
): void {
  for (const runner of queue.runners.list()) {
    const isInSight = runner.shared || runner.project === project;
    if (isInSight && runner.jobsLeft === null && isPlacedHere(rule, runner))
      calibrateAnew(queue, project, runner.id, modelVersionId);
  }
}

/** A calibration belongs to the model's project, not to the runner's owner. */
function calibrate(queue: QueueParts, project: string, runnerId: string, modelVersionId: string): SubmitOutcome {
  const { calibrationIterations: iterations } = queue;
  const spec = CalibrationSpec.parse({ kind: "calibration", modelVersionId, runnerId, iterations });
  return acceptJob(queue, {
    project,
    submittedBy: null,
    spec,
    profile: null,
    idempotencyKey: null,
    requestHash: "",
  });
}
