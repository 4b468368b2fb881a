import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import type { HealthReport, LiveReport } from "../../protocol/fleet/health.ts";
import type { Roofline } from "../../protocol/fleet/roofline.ts";
import type { DirectOutcome } from "../../protocol/inference/ticket.ts";
import type { JobProgress } from "../../protocol/jobs/job.ts";
import type { Intervals, Lease, Offer, PlacedModel } from "../../protocol/link.ts";
import type { FeedEvent } from "../../protocol/service/service-state.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { Alarm } from "../clock.ts";
import type { OwedVersion, RunnerPlan } from "../fleet/plan-runner.ts";
import type { RefusedRequest, RequestOutcome } from "../history/request-measurements.ts";
import type { PassedOutcome } from "../queue/queue-rpc.ts";
import type { AnnouncedRunner } from "../store/fleet/runner-store.ts";
import type { Measurement } from "../store/history/point-store.ts";
import type { RunnerOwner } from "../store/project-store.ts";
import { createMeters } from "./find-excess.ts";
import type { createInFlight } from "./in-flight.ts";
import type { Outbox } from "./outbox.ts";
import type { LinkSocket } from "./runner-socket.ts";

/** The queue's methods that a link needs. */
export interface LinkQueue {
  runnerConnected(
    runner: AnnouncedRunner & { draining: boolean; jobsLeft: number | null },
    running: Lease[],
    helloAtMs: number,
  ): Promise<Lease[]>;
  runnerChanged(id: string, capabilities: Capabilities): Promise<void>;
  runnerDisconnected(id: string): Promise<void>;
  runnerDraining(id: string, draining: boolean): Promise<void>;
  runnerFlapped(id: string): Promise<void>;
  ensureCalibrations(id: string, owed: OwedVersion[]): Promise<void>;
  heartbeat(id: string, running: Lease[]): Promise<{ stale: Lease[]; isWanted: boolean }>;
  progress(id: string, lease: Lease, progress: JobProgress): Promise<void>;
  /** Null: it must come again. */
  settle(id: string, outcome: PassedOutcome): Promise<boolean | null>;
  announce(event: Omit<FeedEvent, "at">, project: string): Promise<void>;
  announceRunner(id: string): Promise<void>;
}

/** The database's methods that a link needs. */
export interface LinkRecords {
  /** Records a hello; null where the runner was removed. */
  hello(runnerId: string, capabilities: Capabilities): Promise<(RunnerOwner & { draining: boolean }) | null>;
  plan(runner: AnnouncedRunner): Promise<RunnerPlan>;
  dropPlacements(ids: string[], beforeMs: number): Promise<void>;
  seen(runnerId: string): Promise<void>;
  disconnected(runnerId: string, atMs: number): Promise<void>;
  capabilities(runnerId: string, capabilities: Capabilities): Promise<void>;
  roofline(runnerId: string, deviceKey: string, roofline: Roofline): Promise<void>;
  /** Measures direct requests like those through the edge. */
  measureDirect(runnerId: string, outcomes: readonly DirectOutcome[]): Promise<(RequestOutcome | RefusedRequest)[]>;
  append(measurements: Measurement[]): Promise<void>;
  /** The parts of an offer that the queue does not hold. */
  offerContext(
    spec: Offer["spec"],
    runnerId: string,
  ): Promise<Pick<Offer, "model" | "program" | "environment" | "edge">>;
  /** A version as the runner serves it; null where it does not. */
  placedModel(runnerId: string, modelVersionId: string): Promise<PlacedModel | null>;
  /** Keeps a report of health that the runner sent by itself. */
  keepReport(report: HealthReport): void;
  /** Judges the kept reports. */
  watch(runnerId: string): Promise<void>;
  endWatch(runnerId: string): Promise<void>;
}

/** The link's surroundings. */
export interface LinkOutside {
  now(): number;
  /** Runs work behind the reply. */
  later(work: Promise<unknown>): void;
  /**
   * Waits until the thread has time for a message of a project's runner; the returned function ends it. Throws
   * `overloaded` where too many wait.
   */
  beginTurn(project: string): Promise<() => void>;
  readonly alarm: Alarm;
  /** Accepts a new socket. */
  accept(socket: LinkSocket): void;
  /** All sockets, including those that are closing. */
  sockets(): LinkSocket[];
  /** Time of a socket's last ping; null before the first. */
  pingedAtMs(socket: LinkSocket): number | null;
  /** The runner that is known to be connected; it outlives the object's memory. */
  readonly connected: {
    read(): Promise<string | undefined>;
    write(runnerId: string): Promise<void>;
    clear(): Promise<void>;
  };
  queue(): LinkQueue;
  readonly records: LinkRecords;
}

/** The listeners to a runner's live reports. */
export interface LinkListeners {
  receive(report: LiveReport): void;
  connected(): void;
  disconnected(): void;
  end(): void;
}

/** Runs one piece of work after the other; a bounded number may wait. */
export class Lane {
  readonly #mostWaiting: number;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(mostWaiting: number) {
    this.#mostWaiting = mostWaiting;
  }

  /** Runs work after all before it; it is dropped where as many wait as may. */
  async runIfRoom(work: () => Promise<void>): Promise<void> {
    if (this.#waiting < this.#mostWaiting) await this.run(work);
  }

  /** Runs work after all before it, however many wait. */
  run(work: () => Promise<void>): Promise<void> {
    this.#waiting++;
    const done = this.#last.then(() => {
      this.#waiting--;
      return work();
    });
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** State of an object that may be lost at any time. */
export interface LinkMemory {
  /** Time at which the database last noted that the runner is alive. */
  seenNotedAtMs: number;
  /** Until then the queue needs no sign of life. */
  quietUntilMs: number;
  hasLoggedUnknown: boolean;
  /** After a breach of the protocol the runner stays away until then, and for so long. */
  rest: { readonly untilMs: number; readonly ms: number };
  /** What the runner has sent, by kind and in all, on whichever socket. */
  readonly meters: ReturnType<typeof createMeters>;
  /** Sockets whose end has been handled. */
  readonly gone: WeakSet<LinkSocket>;
  /** Sockets that the edge closed for what callers may have caused. */
  readonly excused: WeakSet<LinkSocket>;
  /** Sockets found silent by an alarm that itself came late: they are judged by the next. */
  readonly doubted: WeakSet<LinkSocket>;
  /** Judgements of reports, so that nothing is found after the runner's end. */
  readonly watching: Lane;
  /** Messages of direct outcomes: each queries the database. */
  readonly direct: Lane;
}

/** Messages of direct outcomes that may wait: as many as a runner that was cut off sends at once, and some. */
const DIRECT_WAITING = LIMITS.directOutcomesKept / LIMITS.directOutcomes + 4;

/** `watchMs`: interval at which the runner reports its health. */
export function createMemory(seenNotedAtMs = 0, watchMs = 1_000): LinkMemory {
  return {
    seenNotedAtMs,
    quietUntilMs: 0,
    hasLoggedUnknown: false,
    rest: { untilMs: 0, ms: 0 },
    meters: createMeters(watchMs),
    gone: new WeakSet(),
    excused: new WeakSet(),
    doubted: new WeakSet(),
    watching: new Lane(1),
    direct: new Lane(DIRECT_WAITING),
  };
}

/** Inputs of a link's decisions. */
export interface LinkParts {
  readonly intervals: Intervals;
  /** A socket without a ping for this long counts as dead. */
  readonly silentMs: number;
  /** Longest time for which measurements wait for others before they move on. */
  readonly flushMs: number;
  readonly inFlight: ReturnType<typeof createInFlight>;
  readonly outbox: Pick<Outbox, "add" | "isEmpty" | "dueAtMs" | "takeBatch">;
  readonly listeners: LinkListeners;
  readonly memory: LinkMemory;
  readonly outside: LinkOutside;
}
