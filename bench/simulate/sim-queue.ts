import type { FeedEvent } from "../../src/protocol/service/service-state.ts";
import { MAIN_PROJECT } from "../../src/protocol/service/project.ts";
import type { Lease } from "../../src/protocol/link.ts";
import type { LinkQueue } from "../../src/edge/link/link-parts.ts";
import { acceptJob, ensureCalibrations } from "../../src/edge/queue/accept-job.ts";
import { ringQueue } from "../../src/edge/queue/dispatch-jobs.ts";
import { JobLog } from "../../src/edge/queue/job-log.ts";
import { hasEnded, type JobRecord } from "../../src/edge/queue/lease-machine.ts";
import type { QueueLink, QueueParts } from "../../src/edge/queue/queue-parts.ts";
import * as fleet from "../../src/edge/queue/queue-runners.ts";
import { openTables, QUEUE_MIGRATIONS } from "../../src/edge/queue/queue-tables.ts";
import type { KnownRunner, PassedOutcome } from "../../src/edge/queue/queue-rpc.ts";
import { RunnerTable } from "../../src/edge/queue/runner-table.ts";
import { noteProgress, settleJob } from "../../src/edge/queue/settle-job.ts";
import { migrateObject, type ObjectSql } from "../../src/edge/store/migrate-object.ts";
import type { Platform } from "./platform.ts";
import type { SimClock } from "./sim-clock.ts";
import { CAPABILITIES, RESULT, SPEC } from "./sim-jobs.ts";
import { INTERVALS } from "./sim-edge-end.ts";
import { SimAlarm, SimStorage } from "./sim-storage.ts";

/** Maximum number of attempts of a job, as in a deployment. */
const MAX_ATTEMPTS = 3;
/** Time that a call occupies the object, from the platform's "about 1,000 requests a second". */
const CALL_MS = 1;
/** Time of a look at a runner: a dispatch with 10,000 runners, which looks at all of them twice, takes 6 ms. */
const RUNNER_READ_MS = 0.000_3;

const RESULT_TEXT = JSON.stringify(RESULT);

/** Heartbeats that reach the queue: every one, or only those of runners that hold a lease. */
export type Heartbeats = "every" | "leased";

/** Results of jobs, and the load of the queue object. */
export interface QueueReport {
  readonly submitted: number;
  readonly refused: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Number of jobs queued or leased at the end. */
  readonly open: number;
  readonly leases: number;
  readonly expired: number;
  /** Number of outcomes that came after the end of their lease. */
  readonly late: number;
  /** Longest wait of a call before the object began it. */
  readonly longestBacklogMs: number;
  /** Share of the time that the object was busy. */
  readonly busyShare: number;
}

type Counts = Record<"submitted" | "refused" | "succeeded" | "failed" | "leases" | "expired" | "late", number>;

/** The product's queue as one object, which handles one call after the other. */
export class SimQueue implements LinkQueue {
  readonly #clock: SimClock;
  readonly #platform: Platform;
  readonly #heartbeats: Heartbeats;
  readonly #parts: QueueParts;
  readonly #counts: Counts = {
    submitted: 0,
    refused: 0,
    succeeded: 0,
    failed: 0,
    leases: 0,
    expired: 0,
    late: 0,
  };
  #freeAtMs = 0;
  #busyMs = 0;
  #longestBacklogMs = 0;

  constructor(
    { clock, platform }: { readonly clock: SimClock; readonly platform: Platform },
    heartbeats: Heartbeats,
    linkOf: (runnerId: string) => QueueLink,
  ) {
    this.#clock = clock;
    this.#platform = platform;
    this.#heartbeats = heartbeats;
    const storage = new SimStorage();
    migrateObject(storage, QUEUE_MIGRATIONS);
    // The queue keeps whole milliseconds.
    const now = () => Math.floor(clock.nowMs);
    const tables = openTables(storage.sql, now);
    this.#parts = {
      ...tables,
      runners: new MeteredRunners(storage.sql, (runners) => void this.#hold(runners * RUNNER_READ_MS)),
      log: new CountingLog(tables, now, this.#counts),
      maxAttempts: MAX_ATTEMPTS,
      // No simulated job is a calibration.
      calibrationIterations: 300,
      leaseMs: INTERVALS.leaseMs,
      heartbeatMs: INTERVALS.heartbeatMs,
      outside: {
        now,
        transaction: (work) => storage.transactionSync(work),
        later: (work) => void work,
        alarm: new SimAlarm(clock, () => void ringQueue(this.#parts)),
        linkOf,
        scopeOf: () => null,
        readRunner: async () => null,
        recordQuarantine: async () => {},
        results: {
          judge: async (_spec, outcome) =>
            outcome.ok ? { ...outcome, result: RESULT, resultText: RESULT_TEXT } : outcome,
          keep: async (_job, { resultText }) => {
            platform.database("result");
            return resultText;
          },
          noteFailure: async () => {},
          search: async () => {},
        },
      },
    };
  }

  /** Registers a runner that connected long ago. */
  know(id: string): void {
    const whose = { project: MAIN_PROJECT, shared: true };
    this.#parts.runners.save({
      id,
      capabilities: CAPABILITIES,
      online: true,
      draining: false,
      jobsLeft: null,
      ...whose,
    });
  }

  async submit(): Promise<void> {
    await this.#call("job", () => {
      this.#counts.submitted++;
      const asked = { submittedBy: null, profile: null, idempotencyKey: null, requestHash: "" };
      const { ok } = acceptJob(this.#parts, { ...asked, project: MAIN_PROJECT, spec: SPEC });
      if (ok) this.#platform.write("job");
      else this.#counts.refused++;
    });
  }

  /** Always asks for the next heartbeat, too: an option decides which of them count. */
  async heartbeat(id: string, running: Lease[]): Promise<{ stale: Lease[]; isWanted: boolean }> {
    if (running.length === 0 && this.#heartbeats === "leased") return { stale: [], isWanted: true };
    const { stale } = await this.#call("heartbeat", () => {
      if (running.length > 0) this.#platform.write("heartbeat");
      return fleet.heedHeartbeat(this.#parts, id, running);
    });
    return { stale, isWanted: true };
  }

  async settle(id: string, outcome: PassedOutcome): Promise<boolean | null> {
    const isStored = await this.#call("job", () => settleJob(this.#parts, id, outcome));
    if (!isStored) this.#counts.late++;
    return isStored;
  }

  readonly progress = this.#asCall("job", noteProgress);
  readonly runnerConnected = this.#asCall("runner", fleet.connectRunner);
  readonly runnerChanged = this.#asCall("runner", fleet.changeRunner);
  readonly runnerDisconnected = this.#asCall("runner", fleet.disconnectRunner);
  readonly runnerDraining = this.#asCall("runner", fleet.drainRunner);
  readonly runnerFlapped = this.#asCall("runner", fleet.flapRunner);
  readonly ensureCalibrations = this.#asCall("runner", ensureCalibrations);
  readonly announceRunner = this.#asCall("announce", fleet.announceRunner);

  announce(event: Omit<FeedEvent, "at">, project: string): Promise<void> {
    return this.#call("announce", () => this.#parts.log.announce(event, project));
  }

  tell(durationMs: number): QueueReport {
    const open = this.#parts.store
      .counts()
      .filter(({ state }) => state === "queued" || state === "leased")
      .reduce((sum, { count }) => sum + count, 0);
    const longestBacklogMs = this.#longestBacklogMs;
    return { ...this.#counts, open, longestBacklogMs, busyShare: this.#busyMs / durationMs };
  }

  #asCall<Given extends unknown[], Value>(
    what: Parameters<Platform["queue"]>[0],
    work: (parts: QueueParts, ...given: Given) => Value | Promise<Value>,
  ): (...given: Given) => Promise<Value> {
    return (...given) => this.#call(what, () => work(this.#parts, ...given));
  }

  /** Queues a call behind all earlier ones. */
  async #call<Value>(what: Parameters<Platform["queue"]>[0], work: () => Value | Promise<Value>): Promise<Value> {
    this.#platform.queue(what);
    await this.#hold(CALL_MS);
    return work();
  }

  #hold(durationMs: number): Promise<void> {
    const { nowMs } = this.#clock;
    this.#longestBacklogMs = Math.max(this.#longestBacklogMs, this.#freeAtMs - nowMs);
    this.#freeAtMs = Math.max(nowMs, this.#freeAtMs) + durationMs;
    this.#busyMs += durationMs;
    return this.#clock.delay(this.#freeAtMs - nowMs);
  }
}

/** The table of runners; reading all of it takes time. */
class MeteredRunners extends RunnerTable {
  readonly #onRead: (runners: number) => void;

  constructor(sql: ObjectSql, onRead: (runners: number) => void) {
    super(sql);
    this.#onRead = onRead;
  }

  override list(): KnownRunner[] {
    const all = super.list();
    this.#onRead(all.length);
    return all;
  }
}

/** The log of jobs; it counts their transitions. */
class CountingLog extends JobLog {
  readonly #counts: Counts;

  constructor({ store, turns }: Pick<QueueParts, "store" | "turns">, now: () => number, counts: Counts) {
    super(store, turns, now);
    this.#counts = counts;
  }

  override apply(before: JobRecord, after: JobRecord, detail: string | null): void {
    if (before.state === "queued" && after.state === "leased") this.#counts.leases++;
    const isOver = before.state === "leased" && after.state !== "leased";
    if (isOver && after.problem?.code === "lease-expired") this.#counts.expired++;
    if (hasEnded(after) && after.state !== "cancelled") this.#counts[after.state as "succeeded" | "failed"]++;
    super.apply(before, after, detail);
  }
}
