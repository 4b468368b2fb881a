import type { Lease } from "../../protocol/link.ts";
import { createProblem, PROBLEMS, type Problem } from "../../protocol/wire/problem.ts";

/** Lease state of a job. Pure: every function takes the time and returns a new record. */
export interface JobRecord {
  readonly id: string;
  readonly state: "queued" | "leased" | "succeeded" | "failed" | "cancelled";
  /** Leases granted so far. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Number of the current or last lease. It grows with every lease, so that a late result is recognised. */
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

/** Grants a runner the lease of a queued job. */
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

/** Revokes a lease that never reached its runner; it does not count as an attempt. */
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

/** Ends an attempt: the job is queued again if the problem is transient and attempts are left, else it fails. */
export function failAttempt(job: JobRecord, problem: Problem, nowMs: number): JobRecord {
  if (PROBLEMS[problem.code].retryable && job.attempt < job.maxAttempts) {
    return { ...job, state: "queued", runnerId: null, leaseUntilMs: null, problem };
  }
  return fail(job, problem, nowMs);
}

/** Fails a job for good. */
export function fail(job: JobRecord, problem: Problem, nowMs: number): JobRecord {
  return { ...job, state: "failed", leaseUntilMs: null, endedAtMs: nowMs, problem };
}

/** Ends the attempt of an expired lease; other jobs stay unchanged. */
export function expireLease(job: JobRecord, nowMs: number): JobRecord {
  if (job.state !== "leased" || job.leaseUntilMs === null || job.leaseUntilMs > nowMs) return job;
  return failAttempt(job, createProblem("lease-expired", "The runner fell silent while it held the job."), nowMs);
}

export function cancel(job: JobRecord, nowMs: number): JobRecord {
  if (hasEnded(job)) return job;
  const problem = createProblem("cancelled", "The job was cancelled on request.");
  return { ...job, state: "cancelled", leaseUntilMs: null, endedAtMs: nowMs, problem };
}
