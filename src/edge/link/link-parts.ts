import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import type { HealthReport, LiveReport } from "../../protocol/fleet/health.ts";
import type { Roofline } from "../../protocol/fleet/roofline.ts";
import type { DirectOutcome } from "../../protocol/inference/ticket.ts";
import type { JobProgress } from "../../protocol/jobs/job.ts";
import type { Intervals, JobOutcome, Lease, Offer, PlacedModel } from "../../protocol/link.ts";
import type { FeedEvent } from "../../protocol/service/service-state.ts";
import type { Alarm } from "../clock.ts";
import type { OwedVersion, RunnerPlan } from "../fleet/plan-runner.ts";
import type { RefusedRequest, RequestOutcome } from "../history/request-measurements.ts";
import type { AnnouncedRunner } from "../store/fleet/runner-store.ts";
import type { Measurement } from "../store/history/point-store.ts";
import type { RunnerOwner } from "../store/project-store.ts";
import type { createInFlight } from "./in-flight.ts";
import type { Outbox } from "./outbox.ts";
import type { LinkSocket } from "./runner-socket.ts";

/** The queue, as far as a link needs it. */
export interface LinkQueue {
  runnerConnected(runner: AnnouncedRunner & { draining: boolean }, running: Lease[]): Promise<Lease[]>;
  runnerChanged(id: string, capabilities: Capabilities): Promise<void>;
  runnerDisconnected(id: string): Promise<void>;
  runnerDraining(id: string, draining: boolean): Promise<void>;
  runnerFlapped(id: string): Promise<void>;
  ensureCalibrations(id: string, owed: OwedVersion[]): Promise<void>;
  heartbeat(id: string, running: Lease[]): Promise<{ stale: Lease[]; isWanted: boolean }>;
  progress(id: string, lease: Lease, progress: JobProgress): Promise<void>;
  settle(id: string, outcome: JobOutcome): Promise<boolean>;
  announce(event: Omit<FeedEvent, "at">, project: string): Promise<void>;
  announceRunner(id: string): Promise<void>;
}

/** The database, as far as a link reads and writes it. */
export interface LinkRecords {
  /** Writes down a hello; null where the runner was removed. */
  hello(runnerId: string, capabilities: Capabilities): Promise<(RunnerOwner & { draining: boolean }) | null>;
  plan(runner: AnnouncedRunner): Promise<RunnerPlan>;
  dropPlacements(ids: string[], beforeMs: number): Promise<void>;
  seen(runnerId: string): Promise<void>;
  disconnected(runnerId: string, atMs: number): Promise<void>;
  capabilities(runnerId: string, capabilities: Capabilities): Promise<void>;
  roofline(runnerId: string, deviceKey: string, roofline: Roofline): Promise<void>;
  /** Direct requests as the edge would have measured them. */
  measureDirect(runnerId: string, outcomes: readonly DirectOutcome[]): Promise<(RequestOutcome | RefusedRequest)[]>;
  append(measurements: Measurement[]): Promise<void>;
  /** The parts of an offer that the queue does not hold. */
  offerContext(
    spec: Offer["spec"],
    runnerId: string,
  ): Promise<Pick<Offer, "model" | "program" | "environment" | "edge">>;
  /** A version as it is served on the runner; null where it is not. */
  placedModel(runnerId: string, modelVersionId: string): Promise<PlacedModel | null>;
  /** Keeps and judges a report of health that came by itself. */
  watch(runnerId: string, report: HealthReport): Promise<void>;
  endWatch(runnerId: string): Promise<void>;
}

/** The link's surroundings. */
export interface LinkOutside {
  now(): number;
  /** Work that goes on after the reply. */
  later(work: Promise<unknown>): void;
  readonly alarm: Alarm;
  /** Takes a new socket on. */
  accept(socket: LinkSocket): void;
  /** All sockets, closing ones among them. */
  sockets(): LinkSocket[];
  /** When a socket's last ping came; null before the first. */
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

/** What an object remembers while it lives; nothing breaks when it forgets. */
export interface LinkMemory {
  /** When the database last heard that the runner lives. */
  seenNotedAtMs: number;
  /** Until then the queue need not hear that the runner is there. */
  quietUntilMs: number;
  hasLoggedUnknown: boolean;
  /** Sockets whose end has been handled. */
  readonly gone: WeakSet<LinkSocket>;
  /** Reports are judged one after the other, and nothing is found after the runner's end. */
  watching: Promise<void>;
}

export function createMemory(seenNotedAtMs = 0): LinkMemory {
  return {
    seenNotedAtMs,
    quietUntilMs: 0,
    hasLoggedUnknown: false,
    gone: new WeakSet(),
    watching: Promise.resolve(),
  };
}

/** Everything that the decisions of a link are made from. */
export interface LinkParts {
  readonly intervals: Intervals;
  /** A socket without a ping for so long is dead. */
  readonly silentMs: number;
  /** How long measurements wait for others before they move on. */
  readonly flushMs: number;
  readonly inFlight: ReturnType<typeof createInFlight>;
  readonly outbox: Pick<Outbox, "add" | "isEmpty" | "dueAtMs" | "takeBatch">;
  readonly listeners: LinkListeners;
  readonly memory: LinkMemory;
  readonly outside: LinkOutside;
}
