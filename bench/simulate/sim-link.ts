import { EdgeMessage, type Lease, type Offer, parseText, type RunnerMessage } from "../../src/protocol/link.ts";
import { decodeFrame, encodeFrame } from "../../src/protocol/wire/frame.ts";
import { type ProblemCode, ProblemError } from "../../src/protocol/wire/problem.ts";
import { MAIN_PROJECT } from "../../src/protocol/service/project.ts";
import type { Answer } from "../../src/gpu-runner/serving/queue/inference-server.ts";
import type { RefusedRequest } from "../../src/edge/history/request-measurements.ts";
import { askInference, cancelLeases, offerToRunner } from "../../src/edge/link/ask-runner.ts";
import { acceptSocket, noteClose, recordOutcomes } from "../../src/edge/link/keep-connection.ts";
import type { LinkParts } from "../../src/edge/link/link-parts.ts";
import { receive } from "../../src/edge/link/receive-message.ts";
import { attach } from "../../src/edge/link/runner-socket.ts";
import { CAPABILITIES, RESULT } from "./sim-jobs.ts";
import { createEdgeEnd, type EdgeWorld, INTERVALS, SILENT_MS } from "./sim-edge-end.ts";
import type { Asked, SimRunner } from "./sim-runner.ts";
import { SimSocket } from "./sim-socket.ts";

/** End of a request at the runner's end of the link; `heard` means that the runner itself reported it. */
export type LinkEnd =
  | { readonly kind: "answered"; readonly answer: Pick<Answer, "times" | "rows" | "backlogMs"> }
  | { readonly kind: "failed"; readonly code: ProblemCode; readonly heard: boolean; readonly retryAfterMs?: number };

/** WebSocket code of an abnormal closure, which a platform reports for a broken connection. */
const BROKEN = 1006;

/** Stands in for an isolate's hand-over of many requests at once; the simulator counts hand-overs, not their series. */
const OUTCOME: RefusedRequest = { project: MAIN_PROJECT, subject: "simulated", refusedFor: "overloaded" };

interface LinkWorld extends EdgeWorld {
  /** Draws the duration of the next job. */
  readonly drawJobMs: () => number;
}

/**
 * One runner's link: the product's own at the edge's end, and at the other end a runner's signs of life and its work.
 */
export class SimLink {
  readonly runner: SimRunner;
  readonly #world: LinkWorld;
  readonly #uniform: () => number;
  readonly #edge: LinkParts;
  #socket: SimSocket;
  /** Time of one ping; the others come at regular intervals before and after it. */
  #pingsAtMs = 0;
  #lostAtMs = Number.POSITIVE_INFINITY;
  /** The job that the runner works on. */
  #working: Lease | null = null;

  /** Creates the link of a runner that has been connected for long. */
  constructor(runner: SimRunner, world: LinkWorld, uniform: () => number) {
    const { host } = runner;
    this.runner = runner;
    this.#world = world;
    this.#uniform = uniform;
    this.#socket = this.#createSocket();
    this.#startSigns();
    this.#edge = createEdgeEnd(host, world, uniform, {
      sockets: () => [this.#socket],
      accept: (socket) => void (this.#socket = socket as SimSocket),
      pingedAtMs: () => this.#pingedAtMs(Math.floor(world.clock.nowMs)),
    });
    attach(this.#socket, { connectionId: host.id, runnerId: host.id, acceptedAtMs: 0, isWelcomed: true });
    void this.#edge.outside.alarm.setAlarm(this.#pingsAtMs);
  }

  /** Sends a request over the socket; where the runner falls silent, only its budget ends it. */
  async infer(asked: Asked): Promise<LinkEnd> {
    this.#world.platform.link(this.runner.host.id, "infer");
    const question = { requestId: asked.requestId, frame: encodeFrame(asked, []), project: "simulated" };
    const outcome = await askInference(this.#edge, question, asked.budgetMs);
    if (outcome.ok) return { kind: "answered", answer: headerOf(outcome.answer) as Answer };
    const { code, retryAfterMs } = outcome.problem;
    return { kind: "failed", code, heard: outcome.heard, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }

  /** Receives outcomes of requests from one isolate. */
  record(): void {
    this.#world.platform.link(this.runner.host.id, "record");
    this.#world.platform.write("outbox");
    void recordOutcomes(this.#edge, [OUTCOME]);
  }

  offer(offered: Pick<Offer, "lease" | "attempt" | "spec">): Promise<"sent" | "offline"> {
    this.#world.platform.link(this.runner.host.id, "offer");
    return offerToRunner(this.#edge, offered);
  }

  async cancelJob(lease: Lease): Promise<void> {
    cancelLeases(this.#socket, [lease]);
  }

  /** Loses the runner: its socket closes at once, or only falls silent. */
  lose(closes: boolean): void {
    const { clock } = this.#world;
    this.runner.lose();
    this.#working = null;
    this.#lostAtMs = clock.nowMs;
    if (!closes) return;
    this.#socket.close();
    void noteClose(this.#edge, this.#socket, BROKEN);
  }

  async comeBack(): Promise<void> {
    this.runner.comeBack();
    this.#lostAtMs = Number.POSITIVE_INFINITY;
    const socket = this.#createSocket();
    await acceptSocket(this.#edge, socket, { runnerId: this.runner.host.id, project: MAIN_PROJECT });
    this.#say({ type: "hello", capabilities: CAPABILITIES, running: [] });
    this.#startSigns();
  }

  #createSocket(): SimSocket {
    return new SimSocket((message) => {
      if (typeof message === "string") this.#hear(message);
      else this.#after(() => void this.#serve(headerOf(message) as Asked));
    });
  }

  /** Delivers something after half a drawn round trip between edge and runner. */
  #after(arrive: () => void): void {
    const { clock } = this.#world;
    clock.at(clock.nowMs + this.runner.host.link(this.#uniform()) / 2, arrive);
  }

  async #serve(asked: Asked): Promise<void> {
    if (!this.runner.isUp) return;
    const { requestId } = asked;
    const socket = this.#socket;
    const reply = await this.runner.serve(asked).then(
      ({ times, rows, backlogMs }) =>
        encodeFrame({ type: "inferResult", requestId, times, rows, backlogMs }, []).buffer,
      (error: unknown) => {
        if (!(error instanceof ProblemError)) throw error;
        return textOf({ type: "inferFailed", requestId, problem: error.problem });
      },
    );
    this.#after(() => void receive(this.#edge, socket, reply));
  }

  /** Handles a message at the runner; one that is down receives nothing. */
  #hear(text: string): void {
    const { clock, drawJobMs } = this.#world;
    const parsed = parseText(EdgeMessage, text);
    if (!parsed.ok) throw new Error(parsed.reason);
    const { message } = parsed;
    if (message.type === "inferCancel") return this.#after(() => this.runner.cancel(message.requestId));
    if (!this.runner.isUp) return;
    if (message.type === "offer") {
      const { lease } = message;
      this.#working = lease;
      clock.at(clock.nowMs + drawJobMs(), () => {
        if (this.#working === lease) this.#finish(lease);
      });
    }
    const isEnd = message.type === "jobCancel" || message.type === "jobSettled";
    if (isEnd && message.lease.jobId === this.#working?.jobId) this.#working = null;
  }

  #finish(lease: Lease): void {
    const startedAt = new Date(this.#world.clock.nowMs).toISOString();
    const outcome = { ok: true, result: RESULT, deviceKey: RESULT.environment.deviceKey, startedAt } as const;
    this.#say({ type: "jobOutcome", lease, outcome });
  }

  #say(message: RunnerMessage): void {
    this.#world.platform.link(this.runner.host.id, "message");
    void receive(this.#edge, this.#socket, textOf(message));
  }

  /** Sends heartbeats, pings and health reports, as long as this connection lasts. */
  #startSigns(): void {
    const { clock, platform } = this.#world;
    const socket = this.#socket;
    const every = (periodMs: number, work: () => void) => {
      const beat = () => {
        if (socket !== this.#socket || socket.readyState !== WebSocket.OPEN || !this.runner.isUp) return;
        work();
        clock.at(clock.nowMs + periodMs, beat);
      };
      clock.at(clock.nowMs + this.#uniform() * periodMs, beat);
    };
    every(INTERVALS.heartbeatMs, () =>
      this.#say({ type: "heartbeat", running: this.#working === null ? [] : [this.#working] }),
    );
    this.#pingsAtMs = Math.floor(clock.nowMs + this.#uniform() * SILENT_MS);
    every(INTERVALS.watchMs, () => {
      platform.link(this.runner.host.id, "message");
      platform.write("report");
    });
  }

  /** Time of the last ping that the runner sent while it was connected. */
  #pingedAtMs(nowMs: number): number {
    const pings = Math.floor((Math.min(nowMs, this.#lostAtMs) - this.#pingsAtMs) / INTERVALS.pingMs);
    return this.#pingsAtMs + pings * INTERVALS.pingMs;
  }
}

function textOf(message: RunnerMessage): string {
  return JSON.stringify(message);
}

function headerOf(frame: Uint8Array): unknown {
  const decoded = decodeFrame(frame);
  if (!decoded.ok) throw new Error(decoded.message);
  return decoded.header;
}
