import { assignJobs } from "../../../../src/edge/queue/assign-jobs.ts";
import * as machine from "../../../../src/edge/queue/lease-machine.ts";
import { BenchmarkSpec } from "../../../../src/protocol/jobs/benchmark.ts";
import type { JobSpec } from "../../../../src/protocol/jobs/job.ts";
import type { Lease } from "../../../../src/protocol/link.ts";
import { createProblem, type Problem } from "../../../../src/protocol/wire/problem.ts";
import { capabilities } from "../../../edge/stack/samples.ts";
import { queuedRecord } from "./queued-record.ts";

export const LEASE_MS = 100;
const TRIAD = BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad" });

/** An offer as the queue hands it to the link. */
export interface GivenOffer {
  readonly runnerId: string;
  readonly lease: Lease;
  readonly attempt: number;
  readonly spec: JobSpec;
}

interface HeldJob {
  record: machine.JobRecord;
  readonly spec: JobSpec;
  /** Results that were written, and ends that it came to. */
  stored: number;
  ends: number;
}

/** The queue's decisions, in the order in which job-queue.ts makes them, over a map instead of SQLite and D1. */
export class PureQueue {
  readonly jobs = new Map<string, HeldJob>();
  readonly offers: GivenOffer[] = [];
  readonly #runners = new Map<string, { online: boolean; draining: boolean }>();
  #nowMs = 1_000;

  submit(id: string, maxAttempts: number, runnerId?: string): void {
    const spec = { ...TRIAD, ...(runnerId !== undefined && { runnerId }) };
    this.jobs.set(id, { record: queuedRecord(id, maxAttempts), spec, stored: 0, ends: 0 });
    this.#dispatch();
  }

  connect(runnerId: string, running: readonly Lease[]): Lease[] {
    this.#runners.set(runnerId, { online: true, draining: false });
    const stale = this.#renew(runnerId, running);
    const problem = createProblem("runner-lost", "It came back without the job.");
    for (const { record } of this.jobs.values()) {
      if (record.state !== "leased" || record.runnerId !== runnerId) continue;
      if (running.some((lease) => lease.jobId === record.id && machine.holdsLease(record, lease, runnerId))) continue;
      this.#apply(machine.failAttempt(record, problem, this.#nowMs));
    }
    this.#dispatch();
    return stale;
  }

  disconnect(runnerId: string): void {
    this.#runners.set(runnerId, { online: false, draining: false });
  }

  drain(runnerId: string): void {
    this.#runners.set(runnerId, { online: true, draining: true });
  }

  heartbeat(runnerId: string, running: readonly Lease[]): Lease[] {
    const stale = this.#renew(runnerId, running);
    this.#dispatch();
    return stale;
  }

  settle(runnerId: string, lease: Lease, problem: Problem | null): boolean {
    const job = this.jobs.get(lease.jobId);
    if (job === undefined) return false;
    const { record } = job;
    const isStored = record.state === "succeeded" && record.epoch === lease.epoch && record.runnerId === runnerId;
    if (isStored) return true;
    if (!machine.holdsLease(record, lease, runnerId)) return false;
    if (problem === null) {
      job.stored++;
      this.#apply(machine.succeed(record, this.#nowMs));
    } else {
      this.#apply(machine.failAttempt(record, problem, this.#nowMs));
    }
    this.#dispatch();
    return true;
  }

  cancel(id: string): void {
    const job = this.jobs.get(id);
    if (job !== undefined) this.#apply(machine.cancel(job.record, this.#nowMs));
    this.#dispatch();
  }

  /** The offer of a lease did not arrive. */
  revoke(runnerId: string, lease: Lease): void {
    const record = this.jobs.get(lease.jobId)?.record;
    if (record !== undefined && machine.holdsLease(record, lease, runnerId)) this.#apply(machine.revokeLease(record));
  }

  pass(ms: number): void {
    this.#nowMs += ms;
    for (const { record } of this.jobs.values()) this.#apply(machine.expireLease(record, this.#nowMs));
    this.#dispatch();
  }

  #renew(runnerId: string, running: readonly Lease[]): Lease[] {
    return running.filter((lease) => {
      const job = this.jobs.get(lease.jobId);
      if (job === undefined || !machine.holdsLease(job.record, lease, runnerId)) return true;
      job.record = machine.renewLease(job.record, this.#nowMs, LEASE_MS);
      return false;
    });
  }

  #apply(after: machine.JobRecord): void {
    const job = this.jobs.get(after.id)!;
    if (!machine.hasEnded(job.record) && machine.hasEnded(after)) job.ends++;
    job.record = after;
  }

  #dispatch(): void {
    const ready = [...this.#runners]
      .filter(([, { online, draining }]) => online && !draining)
      .map(([id, state]) => ({ id, project: "main", shared: false, capabilities, jobsLeft: null, ...state }));
    const held = [...this.jobs.values()];
    const waiting = held
      .filter(({ record }) => record.state === "queued")
      .map(({ record, spec }) => ({ project: "main", record, spec, profile: null }));
    const leased = held.filter(({ record }) => record.state === "leased").map(({ record }) => record);
    for (const { job, runner } of assignJobs(
      { waiting: new Map([["main", waiting]]), runners: ready, leased, turnOf: () => 0 },
      this.#nowMs,
    )) {
      const granted = machine.grantLease(job.record, runner.id, this.#nowMs, LEASE_MS);
      this.#apply(granted);
      const lease = { jobId: granted.id, epoch: granted.epoch };
      this.offers.push({ runnerId: runner.id, lease, attempt: granted.attempt, spec: job.spec });
    }
  }
}
