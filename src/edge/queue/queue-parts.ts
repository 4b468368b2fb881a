import type { JobOutcome, Lease, Offer } from "../../protocol/link.ts";
import type { JobResult, JobSpec } from "../../protocol/jobs/job.ts";
import type { Problem } from "../../protocol/wire/problem.ts";
import type { SpanScope } from "../../telemetry/span.ts";
import type { TraceContext } from "../../telemetry/trace-context.ts";
import type { Alarm } from "../clock.ts";
import type { RunnerOwner } from "../store/project-store.ts";
import type { JobLog } from "./job-log.ts";
import type { JobStore } from "./job-store.ts";
import type { JobTraces, ProjectTurns, StandingTable } from "./queue-tables.ts";
import type { RunnerTable } from "./runner-table.ts";

export type SoundOutcome = Extract<JobOutcome["outcome"], { ok: true }>;

/** A lease under which a job came to a result, and whose job it is. */
export interface HeldJob {
  readonly id: string;
  readonly project: string;
  readonly attempt: number;
  readonly spec: JobSpec;
  readonly runnerId: string;
}

/** The runner's link, as far as the queue needs it. */
export interface QueueLink {
  offer(offered: Pick<Offer, "lease" | "attempt" | "spec" | "traceparent">): Promise<"sent" | "offline">;
  cancelJob(lease: Lease): Promise<void>;
}

/** Outcomes outside the queue: results are judged and kept there, and failures are written down. */
export interface Results {
  /** The outcome as it counts: an unsound result is a failure. */
  judge(spec: JobSpec, outcome: JobOutcome["outcome"]): JobOutcome["outcome"];
  /** Keeps a sound result and gives it as it was kept; may be repeated. */
  keep(job: HeldJob, outcome: SoundOutcome, endedAtMs: number): Promise<JobResult>;
  noteFailure(job: HeldJob, problem: Problem): Promise<void>;
  /** Looks for changes in a history that has just grown. */
  search(nowMs: number): Promise<unknown>;
}

/** The queue's surroundings. */
export interface QueueOutside {
  now(): number;
  transaction(work: () => void): void;
  /** Work that goes on after the reply. */
  later(work: Promise<unknown>): void;
  readonly alarm: Alarm;
  linkOf(runnerId: string): QueueLink;
  /** Where spans within this context go; null where they go nowhere. */
  scopeOf(context: TraceContext | null): SpanScope | null;
  /** Who owns a runner that the queue does not know. */
  findOwner(runnerId: string): Promise<RunnerOwner | null>;
  recordQuarantine(runnerId: string, quarantine: { until: string; reason: string } | null): Promise<void>;
  readonly results: Results;
}

/** The tables that decide, and the surroundings that decisions act on. */
export interface QueueParts {
  readonly store: JobStore;
  readonly runners: RunnerTable;
  readonly standings: StandingTable;
  readonly log: JobLog;
  readonly traces: JobTraces;
  readonly turns: ProjectTurns;
  readonly maxAttempts: number;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly outside: QueueOutside;
}
