import { LIMITS } from "../../src/protocol/wire/limits.ts";
import { type ProblemCode, ProblemError } from "../../src/protocol/wire/problem.ts";
import type { Answer } from "../../src/gpu-runner/serving/queue/inference-server.ts";
import type { Platform } from "./platform.ts";
import type { SimClock } from "./sim-clock.ts";
import type { SimDatabase } from "./sim-database.ts";
import type { Asked, SimRunner } from "./sim-runner.ts";
import type { SimQueue } from "./sim-queue.ts";

/** How a request ended at the runner's end of the link; `heard` tells whether the runner itself said so. */
export type LinkEnd =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "failed"; readonly code: ProblemCode; readonly heard: boolean; readonly retryAfterMs?: number };

/** The intervals of a deployment. */
export const INTERVALS = {
  pingMs: 1_500,
  heartbeatMs: 3_000,
  leaseMs: 15_000,
  watchMs: 10_000,
  flushMs: 10_000,
  seenMs: 30_000,
};
/** A socket without a ping for so long is dead; an alarm looks as often. */
const SILENT_MS = 3 * INTERVALS.pingMs;

/** Who forwards a heartbeat to the queue: every link, or only one whose runner holds a lease. */
export type Heartbeats = "every" | "leased";

/** One runner's link object with its socket, and the signs of life on it. */
export class SimLink {
  readonly runner: SimRunner;
  readonly #parts: { clock: SimClock; platform: Platform; database: SimDatabase; queue: SimQueue };
  readonly #uniform: () => number;
  readonly #heartbeats: Heartbeats;
  readonly #waiting = new Set<(end: LinkEnd) => void>();
  #isOpen = true;
  /** Grows with each connection, so that what was due for an old one is not done for a new one. */
  #connection = 0;
  #hasOutcomes = false;

  constructor(
    runner: SimRunner,
    parts: { clock: SimClock; platform: Platform; database: SimDatabase; queue: SimQueue },
    uniform: () => number,
    heartbeats: Heartbeats,
  ) {
    this.runner = runner;
    this.#parts = parts;
    this.#uniform = uniform;
    this.#heartbeats = heartbeats;
    this.#startSigns();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends a request over the socket; it never ends where the runner says nothing and its socket stays open. */
  async infer(asked: Asked): Promise<LinkEnd> {
    const { clock, platform } = this.#parts;
    platform.link(this.runner.host.id, "infer");
    if (!this.#isOpen) return { kind: "failed", code: "runner-offline", heard: false };
    if (this.#waiting.size >= LIMITS.inFlightPerRunner) return { kind: "failed", code: "overloaded", heard: false };
    const wayMs = this.runner.host.link(this.#uniform()) / 2;
    return new Promise((resolve) => {
      const end = (ended: LinkEnd) => {
        if (this.#waiting.delete(end)) resolve(ended);
      };
      this.#waiting.add(end);
      clock.at(clock.nowMs + asked.budgetMs, () => end({ kind: "failed", code: "budget-exceeded", heard: false }));
      clock.at(clock.nowMs + wayMs, () => void this.#deliver(asked, end));
    });
  }

  /** Nobody waits any more. */
  cancel(requestId: string): void {
    const { clock } = this.#parts;
    clock.at(clock.nowMs + this.runner.host.link(this.#uniform()) / 2, () => this.runner.cancel(requestId));
  }

  /** What became of requests, handed over by one isolate. */
  record(): void {
    this.#parts.platform.link(this.runner.host.id, "record");
    this.#parts.platform.write("outbox");
    this.#hasOutcomes = true;
  }

  /** The runner is gone: its socket closes at once, or it only says nothing more. */
  lose(closes: boolean): void {
    const { clock, queue } = this.#parts;
    const connection = this.#connection;
    this.runner.lose();
    queue.loseWork(this.runner.host.id);
    const noticedMs = closes ? 0 : SILENT_MS + this.#uniform() * SILENT_MS;
    clock.at(clock.nowMs + noticedMs, () => {
      if (connection === this.#connection) this.#close();
    });
  }

  comeBack(): void {
    const { database, platform, queue } = this.#parts;
    // A new socket ends one that only looked open.
    if (this.#isOpen) this.#close();
    this.#connection++;
    this.#isOpen = true;
    this.runner.comeBack();
    platform.link(this.runner.host.id, "message");
    platform.database("hello");
    database.setOnline(this.runner.host, true);
    queue.runnerConnected(this.runner.host.id);
    this.#startSigns();
  }

  #close(): void {
    const { database, platform, queue } = this.#parts;
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const end of this.#waiting) end({ kind: "failed", code: "runner-lost", heard: false });
    platform.database("disconnect");
    database.setOnline(this.runner.host, false);
    queue.runnerDisconnected(this.runner.host.id);
  }

  async #deliver(asked: Asked, end: (ended: LinkEnd) => void): Promise<void> {
    const { clock } = this.#parts;
    if (!this.runner.isUp) return;
    const ended: LinkEnd = await this.runner.serve(asked).then(
      (answer) => ({ kind: "answered", answer }),
      (error: unknown) => {
        if (!(error instanceof ProblemError)) throw error;
        const { code, retryAfterMs } = error.problem;
        return { kind: "failed", code, heard: true, ...(retryAfterMs !== undefined && { retryAfterMs }) };
      },
    );
    clock.at(clock.nowMs + this.runner.host.link(this.#uniform()) / 2, () => end(ended));
  }

  #startSigns(): void {
    const { clock, platform, queue } = this.#parts;
    const { id } = this.runner.host;
    const every = (periodMs: number, work: () => void) => {
      const connection = this.#connection;
      const beat = () => {
        if (connection !== this.#connection || !this.#isOpen || !this.runner.isUp) return;
        work();
        clock.at(clock.nowMs + periodMs, beat);
      };
      clock.at(clock.nowMs + this.#uniform() * periodMs, beat);
    };
    every(INTERVALS.heartbeatMs, () => {
      platform.link(id, "message");
      if (this.#heartbeats === "every" || queue.isWorking(id)) queue.heartbeat(id);
    });
    every(SILENT_MS, () => {
      platform.link(id, "alarm");
      platform.write("alarm");
    });
    every(INTERVALS.watchMs, () => {
      platform.link(id, "message");
      platform.write("report");
    });
    every(INTERVALS.seenMs, () => platform.database("seen"));
    every(INTERVALS.flushMs, () => this.#flush());
  }

  #flush(): void {
    if (!this.#hasOutcomes) return;
    this.#hasOutcomes = false;
    this.#parts.platform.link(this.runner.host.id, "alarm");
    for (const _ of this.runner.host.placements) this.#parts.platform.database("flush");
    this.#parts.queue.announce();
  }
}
