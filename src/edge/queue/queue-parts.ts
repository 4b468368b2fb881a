import type { JobOutcome, Lease, Offer } from "../../protocol/link.ts";
import type { JobSpec } from "../../protocol/jobs/job.ts";
import type { Problem } from "../../protocol/wire/problem.ts";
import type { SpanScope } from "../../telemetry/span.ts";
import type { TraceContext } from "../../telemetry/trace-context.ts";
import type { Alarm } from "../clock.ts";
import type { RunnerState } from "../store/project-store.ts";
import type { JobLog } from "./job-log.ts";
import type { JobStore } from "./job-store.ts";
import type { PassedOutcome } from "./queue-rpc.ts";
import type { JobTraces, ProjectTurns, StandingTable } from "./queue-tables.ts";
import type { RunnerTable } from "./runner-table.ts";

type Outcome = JobOutcome["outcome"];

/** An outcome with its result, also as JSON. */
export type SoundOutcome = Extract<Outcome, { ok: true }> & { readonly resultText: string };

/** Lease under which a job ended, with the job's project and spec. */
export interface HeldJob {
  readonly id: string;
  readonly project: string;
  readonly attempt: number;
  readonly spec: JobSpec;
  readonly runnerId: string;
}

/** Part of the runner's link that the queue needs. */
export interface QueueLink {
  offer(offered: Pick<Offer, "lease" | "attempt" | "spec" | "traceparent">): Promise<"sent" | "offline">;
  cancelJob(lease: Lease): Promise<void>;
}

/** Effects of outcomes outside the queue: results are judged and stored there, and failures recorded. */
export interface Results {
  /** Judged outcome: an unsound result is a failure. */
  judge(spec: JobSpec, outcome: PassedOutcome["outcome"]): Promise<SoundOutcome | Extract<Outcome, { ok: false }>>;
  /** Stores a sound result and returns it as stored, as JSON; may be repeated. */
  keep(job: HeldJob, outcome: SoundOutcome, endedAtMs: number): Promise<string>;
  noteFailure(job: HeldJob, problem: Problem): Promise<void>;
  /** Searches a history with new runs for changes. */
  search(nowMs: number): Promise<unknown>;
}

/** Services outside the queue that it uses. */
export interface QueueOutside {
  now(): number;
  transaction(work: () => void): void;
  /** Continues work after the reply. */
  later(work: Promise<unknown>): void;
  readonly alarm: Alarm;
  linkOf(runnerId: string): QueueLink;
  /** Scope for spans within this context; null where they are not exported. */
  scopeOf(context: TraceContext | null): SpanScope | null;
  /** State of a runner in the database; null for one that never was. */
  readRunner(runnerId: string): Promise<RunnerState | null>;
  recordQuarantine(runnerId: string, quarantine: { until: string; reason: string } | null): Promise<void>;
  readonly results: Results;
}

/** The queue's tables and outside services, which its functions share. */
export interface QueueParts {
  readonly store: JobStore;
  readonly runners: RunnerTable;
  readonly standings: StandingTable;
  readonly log: JobLog;
  readonly traces: JobTraces;
  readonly turns: ProjectTurns;
  readonly maxAttempts: number;
  /** Of calibrations that the queue itself submits. */
  readonly calibrationIterations: number;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly outside: QueueOutside;
}
