import type { SimClock } from "./sim-clock.ts";
import { LoadMeter, type ObjectLoad } from "./object-load.ts";

/**
 * Rows written for each event, as measured on the local database and objects. A row counts once more for each index and
 * for an autoincrement.
 */
const ROWS = {
  /** Five series of one placement: points, their share of rollups, and their deletion two days later. */
  flush: 27,
  /** Five rows of the link's outbox over their life. */
  outbox: 20,
  seen: 1,
  hello: 2,
  disconnect: 1,
  /** A result with its run and points. */
  result: 27,
  alarm: 1,
  /** A health report: the report and its number, a deleted one, and the memory's samples under their name. */
  report: 5,
  /** A runner's row in the queue. */
  heartbeat: 1,
  /** A job over its life, with its events. */
  job: 14,
} as const;

/** Load of the platform, per second. */
export interface PlatformLoad {
  readonly link: ObjectLoad;
  readonly queue: ObjectLoad;
  /** Calls of the link objects: requests, and hand-overs of request outcomes. */
  readonly linkRequestsPerSecond: number;
  readonly linkRecordsPerSecond: number;
  readonly heartbeatsPerSecond: number;
  readonly announcesPerSecond: number;
  readonly databaseRowsWrittenPerSecond: number;
  readonly databaseRowsReadPerSecond: number;
  readonly databaseQueriesPerSecond: number;
  readonly objectRowsWrittenPerSecond: number;
}

/** Counts the calls of the objects and the database. */
export class Platform {
  readonly #clock: SimClock;
  #links = new LoadMeter();
  #queue = new LoadMeter();
  #counts = new Map<string, number>();
  #sinceMs = 0;

  constructor(clock: SimClock) {
    this.#clock = clock;
  }

  /** Discards earlier counts, as a measurement begins. */
  reset(): void {
    this.#links = new LoadMeter();
    this.#queue = new LoadMeter();
    this.#counts.clear();
    this.#sinceMs = this.#clock.nowMs;
  }

  link(runnerId: string, what: "infer" | "record" | "message" | "alarm" | "offer"): void {
    this.#links.note(runnerId, this.#clock.nowMs);
    this.#add(`link ${what}`);
  }

  queue(what: "heartbeat" | "announce" | "job" | "runner"): void {
    this.#queue.note("main", this.#clock.nowMs);
    this.#add(`queue ${what}`);
  }

  database(what: "flush" | "seen" | "hello" | "disconnect" | "result"): void {
    this.#add("queries");
    this.#add("database rows", ROWS[what]);
  }

  read(rows: number): void {
    this.#add("queries");
    this.#add("rows read", rows);
  }

  /** Counts rows written to an object's own SQLite. */
  write(what: "outbox" | "alarm" | "report" | "heartbeat" | "job"): void {
    this.#add("object rows", ROWS[what]);
  }

  tell(): PlatformLoad {
    const durationMs = this.#clock.nowMs - this.#sinceMs;
    const rate = (what: string) => (this.#counts.get(what) ?? 0) / (durationMs / 1e3);
    return {
      link: this.#links.read(durationMs),
      queue: this.#queue.read(durationMs),
      linkRequestsPerSecond: rate("link infer"),
      linkRecordsPerSecond: rate("link record"),
      heartbeatsPerSecond: rate("queue heartbeat"),
      announcesPerSecond: rate("queue announce"),
      databaseRowsWrittenPerSecond: rate("database rows"),
      databaseRowsReadPerSecond: rate("rows read"),
      databaseQueriesPerSecond: rate("queries"),
      objectRowsWrittenPerSecond: rate("object rows"),
    };
  }

  #add(what: string, count = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }
}
