import { DurableObject } from "cloudflare:workers";
import type { MemoryReport } from "../../protocol/fleet/memory.ts";
import { type EdgeMessage, type Lease, LINK_SUBPROTOCOL, type Offer, PING, PONG } from "../../protocol/link.ts";
import { createId } from "../../protocol/wire/id.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { configOf, type Env, jobQueue } from "../config.ts";
import type { RunnerHealth } from "../fleet/watch/watch-rule.ts";
import { WatchLog } from "../fleet/watch/watch-log.ts";
import type { RefusedRequest, RequestOutcome } from "../history/request-measurements.ts";
import { migrateObject } from "../store/migrate-object.ts";
import {
  askInference,
  askRunner,
  cancelInference,
  cancelLeases,
  configureRunner,
  findSocket,
  offerToRunner,
  say,
} from "./ask-runner.ts";
import { createInFlight, type Timing } from "./in-flight.ts";
import { issueTicket } from "./issue-ticket.ts";
import type { IssuedTicket, LinkOutcome, LinkState, RunnerLinkRpc, TicketWish } from "./link-rpc.ts";
import { nameHolder } from "../thread-shares.ts";
import { threadShares } from "../turns.ts";
import { tellHealth } from "./runner-health.ts";
import {
  acceptSocket,
  findRestMs,
  endRunner,
  flushOutbox,
  isConnected,
  noteClose,
  noteDisconnect,
  recordOutcomes,
  ringLink,
} from "./keep-connection.ts";
import { createMemory, type LinkOutside, type LinkParts } from "./link-parts.ts";
import { DatabaseRecords } from "./link-records.ts";
import { LiveWatch } from "./live-watch.ts";
import { LINK_MIGRATIONS, Outbox } from "./outbox.ts";
import { receive } from "./receive-message.ts";
import { attachmentOf } from "./runner-socket.ts";

const TIMING: Timing = {
  now: () => Date.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/** One runner's end of the link: its socket, the requests in flight on it, and its measurements. */
export class RunnerLink extends DurableObject<Env> implements RunnerLinkRpc {
  readonly #outbox: Outbox;
  readonly #watchLog: WatchLog;
  readonly #live = new LiveWatch((request) => say(this.#parts, request));
  readonly #parts: LinkParts;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrateObject(ctx.storage, LINK_MIGRATIONS);
    this.#outbox = new Outbox(ctx.storage.sql, ctx.id.toString());
    this.#watchLog = new WatchLog(ctx.storage.sql);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    const { intervals, silentMs, flushMs } = configOf(env);
    this.#parts = {
      intervals,
      silentMs,
      flushMs,
      inFlight: createInFlight(TIMING),
      outbox: this.#outbox,
      listeners: this.#live,
      memory: createMemory(0, intervals.watchMs),
      outside: this.#createOutside(),
    };
  }

  /** The bindings are read at each use: a test may replace them. */
  #createOutside(): LinkOutside {
    const { ctx } = this;
    return {
      now: () => Date.now(),
      later: (work) => ctx.waitUntil(work),
      beginTurn: (project) =>
        threadShares.begin({
          holder: nameHolder(project, true),
          kind: "other",
          waitUntil: (work) => ctx.waitUntil(work),
        }),
      alarm: ctx.storage,
      accept: (socket: WebSocket) => ctx.acceptWebSocket(socket),
      sockets: () => ctx.getWebSockets(),
      pingedAtMs: (socket: WebSocket) => ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? null,
      connected: {
        read: () => ctx.storage.get<string>("connected"),
        write: (runnerId) => ctx.storage.put("connected", runnerId),
        clear: async () => void (await ctx.storage.delete("connected")),
      },
      queue: () => jobQueue(this.env),
      records: new DatabaseRecords(() => this.env, this.#watchLog),
    };
  }

  /** `/live` streams the runner's reports to a listener; every other path accepts its socket. */
  override async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === "/live")
      return this.#live.open(isConnected(this.#parts)) ?? new Response(null, { status: 503 });
    const { 0: client, 1: server } = new WebSocketPair();
    const of = (name: string) => request.headers.get(`x-runner-${name}`) ?? "";
    await acceptSocket(this.#parts, server, { runnerId: of("id"), project: of("project") });
    return new Response(null, {
      status: 101,
      webSocket: client,
      headers: { "sec-websocket-protocol": LINK_SUBPROTOCOL },
    });
  }

  /** Sends a project's frame and waits for the answer, for `budgetMs` at most. */
  async infer(requestId: string, frame: Uint8Array, budgetMs: number, project: string): Promise<LinkOutcome> {
    return askInference(this.#parts, { requestId, frame, project }, budgetMs);
  }

  cancelInfer(requestId: string): void {
    cancelInference(this.#parts, requestId);
  }

  /** Milliseconds for which the runner must stay away after a breach of the protocol; 0 where it may connect. */
  restMs(): number {
    return findRestMs(this.#parts);
  }

  /** Asks for the present contents of the runner's memory. */
  async reportMemory(): Promise<LinkOutcome<MemoryReport>> {
    const message: EdgeMessage = { type: "memoryRequest", requestId: createId("request") };
    const text = JSON.stringify(message);
    return askRunner(this.#parts, this.#parts.inFlight.memory, message.requestId, text, LIMITS.onlyReportMs);
  }

  /** Asks for the runner's present health, and adds its past reports. */
  async reportHealth(runnerId: string): Promise<RunnerHealth> {
    const message: EdgeMessage = { type: "healthRequest", requestId: createId("request") };
    const text = JSON.stringify(message);
    const { health } = this.#parts.inFlight;
    const waitMs = this.#watchLog.latest() === null ? LIMITS.onlyReportMs : LIMITS.healthReportMs;
    const outcome = await askRunner(this.#parts, health, message.requestId, text, waitMs);
    return tellHealth(this.env, this.#watchLog, runnerId, outcome, isConnected(this.#parts));
  }

  tellState(): LinkState {
    return { report: this.#watchLog.latest(), outbox: this.#outbox.backlog() };
  }

  /** Signs a ticket for a direct request to the runner. */
  async issueTicket(wish: TicketWish): Promise<IssuedTicket> {
    const socket = findSocket(this.#parts);
    return issueTicket(socket === null ? null : attachmentOf(socket), wish, Date.now());
  }

  async offer(offered: Pick<Offer, "lease" | "attempt" | "spec" | "traceparent">): Promise<"sent" | "offline"> {
    return offerToRunner(this.#parts, offered);
  }

  async configure(modelVersionId: string): Promise<void> {
    await configureRunner(this.#parts, modelVersionId);
  }

  cancelJob(lease: Lease): void {
    const socket = findSocket(this.#parts);
    if (socket !== null) cancelLeases(socket, [lease]);
  }

  /** Lets the runner finish its work and accept nothing new, or accept work again. */
  setDraining(draining: boolean): void {
    say(this.#parts, { type: "drain", draining });
  }

  async removed(runnerId: string): Promise<void> {
    await endRunner(this.#parts, runnerId);
  }

  /** Keeps the Workers' outcomes of requests to this runner. */
  async record(outcomes: (RequestOutcome | RefusedRequest)[]): Promise<void> {
    await recordOutcomes(this.#parts, outcomes);
  }

  /** Moves the measurements of requests to the history now, for a reader that cannot wait for the next flush. */
  async flush(): Promise<void> {
    await flushOutbox(this.#parts);
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    await receive(this.#parts, socket, message);
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    await noteClose(this.#parts, socket, code);
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await noteDisconnect(this.#parts, socket, true);
  }

  override async alarm(): Promise<void> {
    await ringLink(this.#parts);
  }
}
