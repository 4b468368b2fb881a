import type { Lease } from "../../protocol/link.ts";
import { createProblem, PROBLEMS, type Problem } from "../../protocol/wire/problem.ts";

/** What the life of a job depends on. Pure: every function takes the clock and gives a new record. */
export interface JobRecord {
  readonly id: string;
  readonly state: "queued" | "leased" | "succeeded" | "failed" | "cancelled";
  /** Leases given so far. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Number of the current or last lease; grows with every lease, so a late result is recognised. */
  readonly epoch: number;
  readonly runnerId: string | null;
  readonly leaseUntilMs: number | null;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly problem: Problem | null;
}

export function hasEnded(job: JobRecord): boolean {
  return job.state === "succeeded" || job.state === "failed" || job.state === "cancelled";
}

/** Gives a queued job to a runner. */
export function grantLease(job: JobRecord, runnerId: string, nowMs: number, leaseMs: number): JobRecord {
  return {
    ...job,
    state: "leased",
    attempt: job.attempt + 1,
    epoch: job.epoch + 1,
    runnerId,
    leaseUntilMs: nowMs + leaseMs,
    startedAtMs: job.startedAtMs ?? nowMs,
  };
}

/** Takes a lease back that never reached its runner; it does not count as an attempt. */
export function revokeLease(job: JobRecord): JobRecord {
  return { ...job, state: "queued", attempt: job.attempt - 1, runnerId: null, leaseUntilMs: null };
}

/** Whether this runner holds the job under this very lease. */
export function holdsLease(job: JobRecord, lease: Lease, runnerId: string): boolean {
  return job.state === "leased" && job.epoch === lease.epoch && job.runnerId === runnerId;
}

export function renewLease(job: JobRecord, nowMs: number, leaseMs: number): JobRecord {
  return { ...job, leaseUntilMs: nowMs + leaseMs };
}

export function succeed(job: JobRecord, nowMs: number): JobRecord {
  return { ...job, state: "succeeded", leaseUntilMs: null, endedAtMs: nowMs, problem: null };
}

/** Ends an attempt: the job is queued again if the problem may pass and attempts are left, else failed. */
export function failAttempt(job: JobRecord, problem: Problem, nowMs: number): JobRecord {
  if (PROBLEMS[problem.code].retryable && job.attempt < job.maxAttempts) {
    return { ...job, state: "queued", runnerId: null, leaseUntilMs: null, problem };
  }
  return fail(job, problem, nowMs);
}

/** Ends a job for good. */
export function fail(job: JobRecord, problem: Problem, nowMs: number): JobRecord {
  return { ...job, state: "failed", leaseUntilMs: null, endedAtMs: nowMs, problem };
}

/** Ends the attempt of a lease that ran out; other jobs are left as they are. */
export function expireLease(job: JobRecord, nowMs: number): JobRecord {
  if (job.state !== "leased" || job.leaseUntilMs === null || job.leaseUntilMs > nowMs) return job;
  return failAttempt(job, createProblem("lease-expired", "The runner fell silent while it held the job."), nowMs);
}

export function cancel(job: JobRecord, nowMs: number): JobRecord {
  if (hasEnded(job)) return job;
  const problem = createProblem("cancelled", "The job was cancelled on request.");
  return { ...job, state: "cancelled", leaseUntilMs: null, endedAtMs: nowMs, problem };
}
