import { MAIN_PROJECT } from "../../src/protocol/service/project.ts";
import type { RequestMeasurement } from "../../src/edge/history/request-measurements.ts";
import { createInFlight } from "../../src/edge/link/in-flight.ts";
import { ringLink } from "../../src/edge/link/keep-connection.ts";
import {
  createMemory,
  type LinkOutside,
  type LinkParts,
  type LinkQueue,
  type LinkRecords,
} from "../../src/edge/link/link-parts.ts";
import type { Measurement } from "../../src/edge/store/history/point-store.ts";
import type { SimulatedHost } from "./fleet.ts";
import type { Platform } from "./platform.ts";
import type { SimClock } from "./sim-clock.ts";
import type { SimDatabase } from "./sim-database.ts";
import { SimAlarm } from "./sim-storage.ts";

/** The intervals of a deployment. */
export const INTERVALS = { pingMs: 1_500, heartbeatMs: 3_000, leaseMs: 15_000, resendMs: 3_000, watchMs: 10_000 };
const FLUSH_MS = 10_000;
const SEEN_MS = 30_000;
/** A socket is dead after this time without a ping. */
export const SILENT_MS = 3 * INTERVALS.pingMs;

/** The surroundings of an edge's end. */
export interface EdgeWorld {
  readonly clock: SimClock;
  readonly platform: Platform;
  readonly database: SimDatabase;
  readonly queue: LinkQueue;
}

/** The product's own link of a runner that has been connected for long: the phases of its periods are drawn. */
export function createEdgeEnd(
  host: SimulatedHost,
  { clock, platform, database, queue }: EdgeWorld,
  uniform: () => number,
  sockets: Pick<LinkOutside, "sockets" | "accept" | "pingedAtMs">,
): LinkParts {
  const seenAtMs = clock.nowMs + uniform() * SEEN_MS - SEEN_MS;
  const flushesAtMs = Math.floor(clock.nowMs + uniform() * FLUSH_MS);
  let connected: string | undefined = host.id;
  const alarm = new SimAlarm(clock, () => {
    platform.link(host.id, "alarm");
    platform.write("alarm");
    void ringLink(link);
  });
  const link: LinkParts = {
    intervals: INTERVALS,
    silentMs: SILENT_MS,
    flushMs: FLUSH_MS,
    inFlight: createInFlight({ now: () => clock.nowMs, after: (delayMs, run) => startTimer(clock, delayMs, run) }),
    outbox: new SimOutbox(host.placements.length, (atMs) => (atMs - flushesAtMs + FLUSH_MS) % FLUSH_MS),
    listeners: { receive: () => {}, connected: () => {}, disconnected: () => {}, end: () => {} },
    memory: createMemory(seenAtMs),
    outside: {
      ...sockets,
      // A platform's clock has whole milliseconds: an alarm never comes too early.
      now: () => Math.floor(clock.nowMs),
      later: (work) => void work,
      beginTurn: async () => () => {},
      alarm,
      connected: {
        read: async () => connected,
        write: async (id) => void (connected = id),
        clear: async () => void (connected = undefined),
      },
      queue: () => queue,
      records: createRecords(host, database, platform),
    },
  };
  return link;
}

/** A link's records: they update the connected runners; everything else is only counted. */
function createRecords(host: SimulatedHost, database: SimDatabase, platform: Platform): LinkRecords {
  return {
    hello: async () => {
      platform.database("hello");
      database.setOnline(host, true);
      return { project: MAIN_PROJECT, shared: true, draining: false };
    },
    disconnected: async () => {
      platform.database("disconnect");
      database.setOnline(host, false);
    },
    seen: async () => platform.database("seen"),
    append: async (measurements) => {
      for (const _ of measurements) platform.database("flush");
    },
    keepReport: () => platform.write("report"),
    watch: async () => {},
    plan: async () => ({ placed: [], uncalibrated: [], outdated: [] }),
    offerContext: async () => ({ model: null }),
    measureDirect: async () => [],
    placedModel: async () => null,
    dropPlacements: async () => {},
    capabilities: async () => {},
    roofline: async () => {},
    endWatch: async () => {},
  };
}

type LinkOutbox = LinkParts["outbox"];

/**
 * An outbox that remembers the arrival of its oldest row, and returns a batch as one measurement for each placement.
 */
class SimOutbox implements LinkOutbox {
  readonly #placements: number;
  /** Initial age of the first row: the simulation begins in the middle of a period. */
  #firstAgeMs: ((atMs: number) => number) | null;
  #latest: RequestMeasurement | null = null;
  #oldestAtMs = Number.POSITIVE_INFINITY;

  constructor(placements: number, firstAgeMs: (atMs: number) => number) {
    this.#placements = placements;
    this.#firstAgeMs = firstAgeMs;
  }

  get isEmpty(): boolean {
    return this.#latest === null;
  }

  add(measured: RequestMeasurement, atMs: number): void {
    this.#latest = measured;
    this.#oldestAtMs = Math.min(this.#oldestAtMs, atMs - (this.#firstAgeMs?.(atMs) ?? 0));
    this.#firstAgeMs = null;
  }

  dueAtMs(flushMs: number): number {
    return this.isEmpty ? Number.POSITIVE_INFINITY : this.#oldestAtMs + flushMs;
  }

  takeBatch(): { measurements: Measurement[]; done: () => void } {
    const measured = this.#latest;
    const batch = { atMs: this.#oldestAtMs, sourceId: "", runId: null };
    const measurements =
      measured === null ? [] : Array.from({ length: this.#placements }, () => ({ ...measured, ...batch }));
    const done = () => {
      this.#latest = null;
      this.#oldestAtMs = Number.POSITIVE_INFINITY;
    };
    return { measurements, done };
  }
}

function startTimer(clock: SimClock, delayMs: number, run: () => void): () => void {
  let isStopped = false;
  clock.at(clock.nowMs + delayMs, () => {
    if (!isStopped) run();
  });
  return () => void (isStopped = true);
}
