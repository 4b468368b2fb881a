import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import type { Profile } from "../../protocol/fleet/profile.ts";
import type { Job, JobListQuery, JobProgress, JobSpec, JobState, JobSummary } from "../../protocol/jobs/job.ts";
import type { CurvePoint } from "../../protocol/jobs/training.ts";
import type { JobOutcome, Lease } from "../../protocol/link.ts";
import type { FeedEvent } from "../../protocol/service/service-state.ts";
import type { Problem } from "../../protocol/wire/problem.ts";
import type { OwedVersion } from "../fleet/plan-runner.ts";
import type { ResolvedRule } from "../store/models/version-store.ts";
import type { RunnerOwner } from "../store/project-store.ts";

/** A checked job that is to be queued. */
export interface Submission {
  /** Id of the key that asked; null for a job that the edge submits itself. */
  readonly submittedBy: string | null;
  /** The project that owns the job. */
  readonly project: string;
  readonly spec: JobSpec;
  readonly profile: Profile | null;
  readonly idempotencyKey: string | null;
  readonly requestHash: string;
  /** The span of the request; absent or null where it is not traced. */
  readonly traceparent?: string | null;
}

export type SubmitOutcome = { ok: true; job: Job } | { ok: false; problem: Problem };

/** Jobs of a kind and project that are in a state; of ended ones, all that ever came to it. */
export interface JobCount {
  readonly state: JobState;
  readonly kind: string;
  /** Null of ended ones, which are counted over all projects. */
  readonly project: string | null;
  readonly count: number;
  /** When the oldest of them was created; null of ended ones. */
  readonly oldestAtMs: number | null;
}

/** A runner as the queue knows it: what it can do, for whom, and whether it may be given work. */
export interface KnownRunner extends RunnerOwner {
  readonly id: string;
  readonly capabilities: Capabilities;
  readonly online: boolean;
  readonly draining: boolean;
}

/** The calls that the queue's object takes; `JobQueue` documents each. */
export interface JobQueueRpc extends Rpc.DurableObjectBranded {
  /** Event streams of a project: `/{project}/feed`, and `/{project}/jobs/{id}` behind `Last-Event-ID`. */
  fetch(request: Request): Promise<Response>;

  // Jobs, for those who submit them.
  submit(submission: Submission): Promise<SubmitOutcome>;
  get(project: string, id: string): Job | null;
  list(
    project: string,
    query: JobListQuery,
    beforeId: string | null,
  ): { items: JobSummary[]; nextCursor: string | null };
  cancel(project: string, id: string): Promise<Job | null>;
  counts(): JobCount[];
  readCurve(project: string, id: string): CurvePoint[];
  findMeasuredOn(project: string, dataDigest: string): string | null;

  // Calibrations, which the edge submits itself.
  ensureCalibrations(runnerId: string, owed: readonly OwedVersion[]): Promise<void>;
  calibrateAnew(project: string, runnerId: string, modelVersionId: string): Promise<SubmitOutcome>;
  calibrateEverywhere(project: string, modelVersionId: string, rule: ResolvedRule): Promise<void>;

  // What a runner may do while it holds a job.
  isCalibrating(runnerId: string, modelVersionIds: string[]): boolean;
  isWorkingOn(runnerId: string, digest: string): boolean;
  projectOfLease(runnerId: string, lease: Lease): string | null;

  // A runner's comings and goings, and its jobs.
  runnerConnected(runner: Omit<KnownRunner, "online">, running: Lease[]): Promise<Lease[]>;
  runnerChanged(id: string, capabilities: Capabilities): void;
  runnerDisconnected(id: string): Promise<void>;
  runnerDraining(id: string, draining: boolean): Promise<void>;
  runnerShared(id: string, shared: boolean): Promise<void>;
  runnerFlapped(id: string): Promise<void>;
  runnerRemoved(id: string): Promise<void>;
  heartbeat(runnerId: string, running: Lease[]): Promise<{ stale: Lease[]; isWanted: boolean }>;
  progress(runnerId: string, lease: Lease, progress: JobProgress): void;
  settle(runnerId: string, outcome: JobOutcome): Promise<boolean>;

  // Changes, for listeners of `/v1/events`.
  announce(event: Omit<FeedEvent, "at">, project: string): void;
  announceRunner(id: string): Promise<void>;
}
