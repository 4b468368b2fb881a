import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import type { Profile } from "../../protocol/fleet/profile.ts";
import type {
  Job,
  JobListQuery,
  JobProgress,
  JobResult,
  JobSpec,
  JobState,
  JobSummary,
} from "../../protocol/jobs/job.ts";
import type { CurvePoint } from "../../protocol/jobs/training.ts";
import type { LatestCalibration } from "../../protocol/models/model.ts";
import type { JobOutcome, Lease } from "../../protocol/link.ts";
import type { FeedEvent } from "../../protocol/service/service-state.ts";
import type { Problem } from "../../protocol/wire/problem.ts";
import type { OwedVersion } from "../fleet/plan-runner.ts";
import type { ResolvedRule } from "../store/models/version-store.ts";
import type { RunnerOwner } from "../store/project-store.ts";

/** Checked job to be queued. */
export interface Submission {
  /** Id of the requesting key; null for a job that the edge submits itself. */
  readonly submittedBy: string | null;
  /** Project that owns the job. */
  readonly project: string;
  readonly spec: JobSpec;
  readonly profile: Profile | null;
  readonly idempotencyKey: string | null;
  readonly requestHash: string;
  /** Jobs of the project's callers that may wait; absent: the default. */
  readonly mostQueued?: number;
  /** Span of the request; absent or null where it is not traced. */
  readonly traceparent?: string | null;
}

/** The job is without its result, which it may have where it was submitted before. */
export type SubmitOutcome = { ok: true; job: Job } | { ok: false; problem: Problem };

/** Number of jobs by kind, project and state; for end states, all that ever reached them. */
export interface JobCount {
  readonly state: JobState;
  readonly kind: string;
  /** Null for end states, which are counted over all projects. */
  readonly project: string | null;
  readonly count: number;
  /** Creation time of the oldest; null for end states. */
  readonly oldestAtMs: number | null;
}

/** Runner as the queue knows it: its capabilities, its owner, and whether it may get work. */
export interface KnownRunner extends RunnerOwner {
  readonly id: string;
  readonly capabilities: Capabilities;
  readonly online: boolean;
  readonly draining: boolean;
  /** Jobs that it still takes; null: any number. */
  readonly jobsLeft: number | null;
}

type Outcome = JobOutcome["outcome"];

/**
 * A job's outcome as the link passes it on: its result is JSON, since a copy of megabytes of objects takes ten times as
 * long. The link of an older release passes the result itself; with the queue of an older one the outcome comes again.
 */
export interface PassedOutcome {
  readonly lease: Lease;
  readonly outcome:
    | Extract<Outcome, { ok: false }>
    | (Omit<Extract<Outcome, { ok: true }>, "result"> & {
        readonly result?: JobResult | undefined;
        readonly resultText?: string;
      });
}

/** RPC interface of the queue's object; `JobQueue` documents each call. */
export interface JobQueueRpc extends Rpc.DurableObjectBranded {
  fetch(request: Request): Promise<Response>;

  // Jobs, for their submitters.
  submit(submission: Submission): Promise<SubmitOutcome>;
  get(project: string, id: string): Job | null;
  getText(project: string, id: string): Uint8Array<ArrayBuffer> | null;
  list(
    project: string,
    query: JobListQuery,
    beforeId: string | null,
  ): { items: JobSummary[]; nextCursor: string | null };
  cancel(project: string, id: string): Promise<Job | null>;
  cancelAll(project: string): Promise<void>;
  counts(): JobCount[];
  usage(project: string): { queuedJobs: number; eventStreams: number };
  countUnreadable(): number;
  findSubmitted(idempotencyKey: string, requestHash: string): SubmitOutcome | null;
  readCurve(project: string, id: string): CurvePoint[];
  findMeasuredOn(project: string, dataDigest: string): string | null;

  // Calibrations, which the edge submits itself.
  ensureCalibrations(runnerId: string, owed: readonly OwedVersion[]): Promise<void>;
  calibrateAnew(project: string, runnerId: string, modelVersionId: string): Promise<SubmitOutcome>;
  calibrateEverywhere(project: string, modelVersionId: string, rule: ResolvedRule): Promise<void>;
  latestCalibrations(project: string, modelVersionIds: string[]): LatestCalibration[];

  // Rights of a runner while it holds a job.
  isCalibrating(runnerId: string, modelVersionIds: string[]): boolean;
  isWorkingOn(runnerId: string, digest: string): boolean;
  projectOfLease(runnerId: string, lease: Lease): string | null;

  // Connection changes of a runner, and its jobs.
  runnerConnected(runner: Omit<KnownRunner, "online">, running: Lease[], helloAtMs: number): Promise<Lease[]>;
  runnerChanged(id: string, capabilities: Capabilities): void;
  runnerDisconnected(id: string): Promise<void>;
  runnerDraining(id: string, draining: boolean): Promise<void>;
  runnerShared(id: string, shared: boolean): Promise<void>;
  runnerFlapped(id: string): Promise<void>;
  runnerRemoved(id: string): Promise<void>;
  heartbeat(runnerId: string, running: Lease[]): Promise<{ stale: Lease[]; isWanted: boolean }>;
  progress(runnerId: string, lease: Lease, progress: JobProgress): void;
  settle(runnerId: string, outcome: PassedOutcome): Promise<boolean | null>;

  // Changes, for listeners of `/v1/events`.
  announce(event: Omit<FeedEvent, "at">, project: string): void;
  announceRunner(id: string): Promise<void>;
}
