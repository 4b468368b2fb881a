import { DurableObject } from "cloudflare:workers";
import { decodeFrame } from "../../protocol/wire/frame.ts";
import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import { createId } from "../../protocol/wire/id.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import {
  CLOSE_CODES,
  type EdgeMessage,
  type HealthMessage,
  ResultHead,
  type Lease,
  LINK_SUBPROTOCOL,
  type Offer,
  PING,
  PONG,
  parseText,
  RunnerMessage,
} from "../../protocol/link.ts";
import type { HealthReport } from "../../protocol/fleet/health.ts";
import type { MemoryReport } from "../../protocol/fleet/memory.ts";
import { createProblem, toProblem } from "../../protocol/wire/problem.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import { planRunner } from "../fleet/plan-runner.ts";
import { configOf, type Env, jobQueue } from "../config.ts";
import { openDatabase } from "../store/database.ts";
import { findAnyVersion, readAllVersions, toPlacedModel } from "../store/models/model-store.ts";
import { deletePlacements, readMeasuredPlaces } from "../store/fleet/placement-store.ts";
import {
  recordCapabilities,
  recordDisconnect,
  recordHello,
  recordRoofline,
  recordSeen,
} from "../store/fleet/runner-store.ts";
import { appendMeasurements } from "../store/history/point-store.ts";
import { measureOutcomes, type RefusedRequest, type RequestOutcome } from "../history/request-measurements.ts";
import { migrateObject } from "../store/migrate-object.ts";
import { isSoundReport } from "../history/soundness.ts";
import { WatchLog } from "../fleet/watch/watch-log.ts";
import { endWatch, watchRunner } from "../fleet/watch/watch-runner.ts";
import type { RunnerHealth } from "../fleet/watch/watch-rule.ts";
import { InFlightTable } from "./in-flight.ts";
import type { IssuedTicket, LinkOutcome, LinkState, RunnerLinkRpc, TicketWish } from "./link-rpc.ts";
import { LINK_MIGRATIONS, Outbox, toRequestOutcomes } from "./outbox.ts";
import { issueTicket } from "./issue-ticket.ts";
import { LiveWatch } from "./live-watch.ts";
import { tellHealth } from "./runner-health.ts";
import { readOfferContext } from "../kinds/registry.ts";
import { attach, attachmentOf, endSocket, handOverTicketKey, openSockets, sendMessage } from "./runner-socket.ts";

const SEEN_EVERY_MS = 30_000;
/** Ends of a socket that say nothing against its runner: it left, or the edge did; the rest is counted where it was seen. */
const FAULTLESS = new Set<number>([1000, 1001, 1011, 1012, CLOSE_CODES.replaced, CLOSE_CODES.removed]);
/** Batches that one alarm may move. */
const FLUSHED_BATCHES = 10;

/** One runner's end of the link: its socket, what is in flight on it, and its measurements. */
export class RunnerLink extends DurableObject<Env> implements RunnerLinkRpc {
  readonly #inFlight = new InFlightTable();
  readonly #memoryAsked = new InFlightTable<MemoryReport>();
  readonly #healthAsked = new InFlightTable<HealthReport>();
  readonly #outbox: Outbox;
  readonly #watchLog: WatchLog;
  readonly #live = new LiveWatch((request) => {
    const socket = this.#socket();
    if (socket !== null) sendMessage(socket, request);
  });
  readonly #config: ReturnType<typeof configOf>;
  #seenNotedAtMs = 0;
  #toldUnknown = false;
  /** Sockets whose end was told. */
  readonly #gone = new WeakSet<WebSocket>();
  /** Until then the queue need not hear that the runner is there. */
  #quietUntilMs = 0;
  /** Reports are judged one after the other, and nothing is found after the runner's end. */
  #watching: Promise<void> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#config = configOf(env);
    migrateObject(ctx.storage, LINK_MIGRATIONS);
    this.#outbox = new Outbox(ctx.storage.sql, ctx.id.toString());
    this.#watchLog = new WatchLog(ctx.storage.sql);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
  }

  /** `/live` is a stream for who watches the runner; all else takes its socket: the Worker has checked its credential. */
  override async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== "/live") return this.#accept(request);
    return this.#live.open(this.#isConnected()) ?? new Response(null, { status: 503 });
  }

  async #accept(request: Request): Promise<Response> {
    const runnerId = request.headers.get("x-runner-id") ?? "";
    const isFlap = this.#openSockets().some((old) => attachmentOf(old).isWelcomed);
    for (const old of this.ctx.getWebSockets()) this.#end(old, CLOSE_CODES.replaced, "another socket took over");
    if (isFlap)
      this.ctx.waitUntil(
        this.#queue()
          .runnerFlapped(runnerId)
          .catch(() => undefined),
      );
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    attach(server, { connectionId: crypto.randomUUID(), runnerId, acceptedAtMs: Date.now() });
    await this.ctx.storage.setAlarm(Date.now() + this.#config.silentMs);
    return new Response(null, {
      status: 101,
      webSocket: client,
      headers: { "sec-websocket-protocol": LINK_SUBPROTOCOL },
    });
  }

  /** Sends a frame and waits for the answer, for `budgetMs` at most. */
  async infer(requestId: string, frame: Uint8Array, budgetMs: number): Promise<LinkOutcome> {
    return this.#ask(this.#inFlight, requestId, frame, budgetMs, (socket) =>
      sendMessage(socket, { type: "inferCancel", requestId }),
    );
  }

  /** Asks what lies in the runner's memory now. */
  async reportMemory(): Promise<LinkOutcome<MemoryReport>> {
    const message: EdgeMessage = { type: "memoryRequest", requestId: createId("request") };
    return this.#ask(this.#memoryAsked, message.requestId, JSON.stringify(message), LIMITS.memoryReportMs);
  }

  /** Asks how the runner is now, and tells what is known of how it was. */
  async reportHealth(runnerId: string): Promise<RunnerHealth> {
    const message: EdgeMessage = { type: "healthRequest", requestId: createId("request") };
    const text = JSON.stringify(message);
    const outcome = await this.#ask(this.#healthAsked, message.requestId, text, LIMITS.healthReportMs);
    return tellHealth(this.env, this.#watchLog, runnerId, outcome, this.#isConnected());
  }

  /** What is known here of the runner without asking it: its last report, and what waits for the history. */
  tellState(): LinkState {
    return { report: this.#watchLog.latest(), outbox: this.#outbox.backlog() };
  }

  /** Signs a ticket for asking the runner itself. */
  async issueTicket(wish: TicketWish): Promise<IssuedTicket> {
    const socket = this.#socket();
    return issueTicket(socket === null ? null : attachmentOf(socket), wish, Date.now());
  }

  /** Nobody waits for a request any more: the runner need not work on it. */
  cancelInfer(requestId: string): void {
    const socket = this.#socket();
    if (socket !== null) sendMessage(socket, { type: "inferCancel", requestId });
    this.#inFlight.fail(requestId, createProblem("budget-exceeded", "The request ended before its answer."));
  }

  /** Offers a job; `offline` where no socket is there to take it. */
  async offer(offered: Pick<Offer, "lease" | "attempt" | "spec" | "traceparent">): Promise<"sent" | "offline"> {
    const socket = this.#socket();
    if (socket === null) return "offline";
    const context = await readOfferContext(openDatabase(this.env.DB), offered.spec, attachmentOf(socket).runnerId);
    return sendMessage(socket, { type: "offer", ...offered, ...context }) ? "sent" : "offline";
  }

  /** Tells the runner how a version is stored to be served there; where it is not connected, its next welcome does. */
  async configure(modelVersionId: string): Promise<void> {
    const socket = this.#socket();
    if (socket === null) return;
    const db = openDatabase(this.env.DB);
    const version = await findAnyVersion(db, modelVersionId);
    const measured = await readMeasuredPlaces(db, attachmentOf(socket).runnerId, modelVersionId);
    const places = measured.filter(({ isEligible }) => isEligible);
    if (version === null || places.length === 0) return;
    sendMessage(socket, { type: "configure", placed: [toPlacedModel(version, places)] });
  }

  cancelJob(lease: Lease): void {
    const socket = this.#socket();
    if (socket !== null) sendMessage(socket, { type: "jobCancel", lease });
  }

  /** Tells the runner to finish what it has and take nothing new, or to take work again. */
  setDraining(draining: boolean): void {
    const socket = this.#socket();
    if (socket !== null) sendMessage(socket, { type: "drain", draining });
  }

  /** Ends the socket of a runner that was removed. */
  async removed(runnerId: string): Promise<void> {
    const problem = createProblem("forbidden", "This runner was removed.");
    for (const socket of this.ctx.getWebSockets()) {
      sendMessage(socket, { type: "refused", problem });
      this.#end(socket, CLOSE_CODES.removed, "removed");
    }
    this.#live.end();
    await this.#inTurn(() => endWatch(this.env, this.#watchLog, runnerId));
  }

  /** Keeps what the Workers saw of requests to this runner, until the history has it. */
  async record(outcomes: (RequestOutcome | RefusedRequest)[]): Promise<void> {
    const atMs = Date.now();
    for (const measured of measureOutcomes(outcomes)) this.#outbox.add(measured, atMs);
    await this.#armAlarm(atMs);
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    if (typeof message !== "string") return this.#receiveFrame(socket, new Uint8Array(message));
    const parsed = parseText(RunnerMessage, message);
    if (!parsed.ok && parsed.unknownType !== undefined) return this.#noteUnknown(parsed.unknownType);
    if (!parsed.ok) return this.#end(socket, CLOSE_CODES.protocolError, parsed.reason);
    try {
      await this.#receive(socket, parsed.message);
    } catch (error) {
      // The runner sends what matters again: hello after a reconnect, outcomes of jobs until they are settled. Those of
      // direct requests are lost, as some measurements may be.
      console.error(JSON.stringify({ event: "link-message-failed", type: parsed.message.type, error: String(error) }));
      if (parsed.message.type === "hello") this.#end(socket, 1011, toProblem(error).code);
    }
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    endSocket(socket, code, "closed by the runner");
    await this.#disconnected(socket, !FAULTLESS.has(code));
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.#disconnected(socket, true);
  }

  /** Ends sockets that fell silent (half-open ones never close) and moves measurements on. */
  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    try {
      for (const socket of this.#openSockets()) await this.#checkAlive(socket, nowMs);
      if (!this.#isConnected()) await this.#forgetStaleConnection();
      // Last: a batch that fails keeps nothing else back.
      if (this.#outbox.dueAtMs(this.#config.flushMs) <= nowMs) await this.#flush();
    } catch (error) {
      // The database may be away for long: this alarm must go on, or nobody would watch the socket.
      console.error(JSON.stringify({ event: "link-alarm-failed", error: String(error) }));
    }
    await this.#armAlarm(nowMs);
  }

  /**
   * One alarm, at the sooner of the moment at which a socket is dead unless something comes, and the next flush; what
   * is overdue waits a period. Whoever is said to be connected without a socket is looked for in a period, too.
   */
  async #armAlarm(nowMs: number): Promise<void> {
    const { flushMs, silentMs } = this.#config;
    const dueMs = this.#outbox.dueAtMs(flushMs);
    const deadMs = Math.min(...this.#openSockets().map((socket) => this.#heardAtMs(socket) + silentMs));
    const isStale = deadMs === Number.POSITIVE_INFINITY && (await this.ctx.storage.get("connected")) !== undefined;
    const atMs = Math.min(isStale ? nowMs + silentMs : deadMs, dueMs > nowMs ? dueMs : nowMs + flushMs);
    const armedMs = await this.ctx.storage.getAlarm();
    if (Number.isFinite(atMs) && (armedMs === null || armedMs > atMs || armedMs <= nowMs))
      await this.ctx.storage.setAlarm(atMs);
  }

  async #checkAlive(socket: WebSocket, nowMs: number): Promise<void> {
    const { runnerId, direct } = attachmentOf(socket);
    if (nowMs - this.#heardAtMs(socket) < this.#config.silentMs) {
      handOverTicketKey(socket, direct?.url, nowMs);
      return this.#noteSeen(runnerId, nowMs);
    }
    this.#end(socket, CLOSE_CODES.silent, "no sign of life");
    await this.#disconnected(socket, true);
  }

  /** When a socket's last ping came; before the first, when it was accepted. */
  #heardAtMs(socket: WebSocket): number {
    return this.ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? attachmentOf(socket).acceptedAtMs;
  }

  /** Closes a socket. Its requests end now: a half-open one never tells that it has closed. */
  #end(socket: WebSocket, code: number, reason: string): void {
    this.#failRequests(socket);
    endSocket(socket, code, reason);
  }

  #failRequests(socket: WebSocket): void {
    const { connectionId } = attachmentOf(socket);
    const problem = createProblem("runner-lost", "The runner's connection broke.");
    this.#inFlight.failConnection(connectionId, problem);
    this.#memoryAsked.failConnection(connectionId, problem);
    this.#healthAsked.failConnection(connectionId, problem);
  }

  /** Writes now and then that the runner lives; its state changes at once by other ways. */
  async #noteSeen(runnerId: string, nowMs: number): Promise<void> {
    if (nowMs - this.#seenNotedAtMs < SEEN_EVERY_MS) return;
    this.#seenNotedAtMs = nowMs;
    await recordSeen(openDatabase(this.env.DB), runnerId);
  }

  /** Moves measurements to the history, batch by batch; what fails stays for the next time. */
  async #flush(): Promise<void> {
    const projects = new Set<string>();
    try {
      for (let batch = 0; batch < FLUSHED_BATCHES && !this.#outbox.isEmpty; batch++) {
        const { measurements, done } = this.#outbox.takeBatch();
        await appendMeasurements(this.env.DB, measurements);
        done();
        for (const { project } of measurements) projects.add(project);
      }
    } finally {
      for (const project of projects) await this.#queue().announce({ type: "history", id: null }, project);
    }
  }

  async #receive(socket: WebSocket, message: RunnerMessage): Promise<void> {
    const { runnerId, connectionId } = attachmentOf(socket);
    switch (message.type) {
      case "hello":
        return this.#welcome(socket, runnerId, message);
      case "capabilities":
        return this.#changed(runnerId, message.capabilities);
      case "heartbeat":
        return this.#beat(socket, runnerId, message.running);
      case "leaving":
        return this.#queue().runnerDraining(runnerId, true);
      case "jobProgress":
        return this.#queue().progress(runnerId, message.lease, message.progress);
      case "jobOutcome": {
        const stored = await this.#queue().settle(runnerId, message);
        sendMessage(socket, { type: "jobSettled", lease: message.lease, stored });
        return;
      }
      case "deviceRoofline":
        await recordRoofline(openDatabase(this.env.DB), runnerId, message.deviceKey, message.roofline);
        return this.#queue().announceRunner(runnerId);
      case "inferFailed":
        return this.#inFlight.refuse(message.requestId, connectionId, message.problem);
      case "memoryReport":
        return this.#memoryAsked.answer(message.requestId, connectionId, message.report);
      case "health":
        return this.#receiveHealth(runnerId, connectionId, message);
      case "live":
        return this.#live.told(message.report);
      case "directOutcomes":
        return this.record(await toRequestOutcomes(openDatabase(this.env.DB), runnerId, message.outcomes));
      case "echo":
        sendMessage(socket, { type: "echoReply", id: message.id });
        return;
    }
  }

  /** A newer runner may send what is not known here; told once, since it may send it every second. */
  #noteUnknown(type: string): void {
    if (this.#toldUnknown) return;
    this.#toldUnknown = true;
    console.warn(JSON.stringify({ event: "link-message-unknown", type }));
  }

  async #receiveHealth(runnerId: string, connectionId: string, { requestId, report }: HealthMessage): Promise<void> {
    if (!isSoundReport(report)) throw new RangeError("the report of health cannot be kept");
    if (requestId !== null) return this.#healthAsked.answer(requestId, connectionId, report);
    await this.#inTurn(() => watchRunner(this.env, this.#watchLog, runnerId, report));
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#watching.then(work);
    this.#watching = done.catch(() => undefined);
    return done;
  }

  #receiveFrame(socket: WebSocket, frame: Uint8Array): void {
    const decoded = frame.byteLength > LIMITS.socketMessageBytes ? null : decodeFrame(frame);
    // The Worker that waits parses the rest.
    const head = decoded?.ok ? ResultHead.safeParse(decoded.header) : null;
    if (!head?.success) return this.#end(socket, CLOSE_CODES.protocolError, "not a frame of the protocol");
    this.#inFlight.answer(head.data.requestId, attachmentOf(socket).connectionId, frame);
  }

  async #welcome(socket: WebSocket, runnerId: string, hello: Extract<RunnerMessage, { type: "hello" }>): Promise<void> {
    const helloAtMs = Date.now();
    this.#quietUntilMs = 0;
    const db = openDatabase(this.env.DB);
    const runner = await recordHello(db, runnerId, hello.capabilities);
    if (runner === null) return this.removed(runnerId);
    await this.ctx.storage.put("connected", runnerId);
    const announced = { id: runnerId, ...runner, capabilities: hello.capabilities };
    const { placed, uncalibrated, outdated } = await planRunner(this.env.DB, await readAllVersions(db), announced);
    sendMessage(socket, { type: "welcome", runnerId, version: VERSION, intervals: this.#config.intervals, placed });
    attach(socket, { ...attachmentOf(socket), isWelcomed: true });
    handOverTicketKey(socket, hello.capabilities.direct?.url, helloAtMs);
    this.#live.connected();
    if (runner.draining) sendMessage(socket, { type: "drain", draining: true });
    const queue = this.#queue();
    this.#cancelStale(socket, await queue.runnerConnected({ ...announced, ...runner }, hello.running));
    await queue.ensureCalibrations(runnerId, uncalibrated);
    await deletePlacements(db, outdated, helloAtMs);
  }

  /** What the runner can do has changed: the queue first, since the next outcome may depend on it. */
  async #changed(runnerId: string, capabilities: Capabilities): Promise<void> {
    await this.#queue().runnerChanged(runnerId, capabilities);
    await recordCapabilities(openDatabase(this.env.DB), runnerId, capabilities);
    await this.#queue().announceRunner(runnerId);
  }

  /** One that renews nothing goes to the queue while jobs wait there, and else once a lease: there is only one queue. */
  async #beat(socket: WebSocket, runnerId: string, running: Lease[]): Promise<void> {
    const nowMs = Date.now();
    if (running.length === 0 && nowMs < this.#quietUntilMs) return;
    const { stale, isWanted } = await this.#queue().heartbeat(runnerId, running);
    this.#quietUntilMs = isWanted ? 0 : nowMs + this.#config.intervals.leaseMs;
    this.#cancelStale(socket, stale);
  }

  #cancelStale(socket: WebSocket, stale: Lease[]): void {
    for (const lease of stale) sendMessage(socket, { type: "jobCancel", lease });
  }

  /** `isFault`: the runner did not leave by itself. */
  async #disconnected(socket: WebSocket, isFault: boolean): Promise<void> {
    const { connectionId, runnerId, isWelcomed } = attachmentOf(socket);
    this.#failRequests(socket);
    if (this.#isConnected(connectionId)) return;
    this.#live.disconnected();
    // The close of a socket that the alarm has ended may come later.
    const isNew = !this.#gone.has(socket) && (await this.ctx.storage.get("connected")) !== undefined;
    this.#gone.add(socket);
    await this.#markOffline(runnerId, connectionId);
    if (isFault && isWelcomed && isNew) await this.#queue().runnerFlapped(runnerId);
  }

  /** After a restart of the edge no close event comes for the sockets of before. */
  async #forgetStaleConnection(): Promise<void> {
    const runnerId = await this.ctx.storage.get<string>("connected");
    if (runnerId !== undefined) await this.#markOffline(runnerId);
  }

  /** Tells all that the runner is gone, but stops where it comes back meanwhile: its hello tells the contrary. */
  async #markOffline(runnerId: string, goneId?: string): Promise<void> {
    await recordDisconnect(openDatabase(this.env.DB), runnerId, Date.now());
    if (this.#isConnected(goneId)) return;
    await this.#queue().runnerDisconnected(runnerId);
    if (this.#isConnected(goneId)) return;
    // Last: until it is gone, the alarm tries again.
    await this.ctx.storage.delete("connected");
  }

  async #ask<Answer>(
    asked: InFlightTable<Answer>,
    requestId: string,
    message: string | Uint8Array,
    budgetMs: number,
    onDeadline: (socket: WebSocket) => void = () => {},
  ): Promise<LinkOutcome<Answer>> {
    const socket = this.#socket();
    if (socket === null) {
      return {
        ok: false,
        heard: false,
        problem: createProblem("runner-offline", "The runner is not connected.", { retryAfterMs: 1_000 }),
      };
    }
    if (asked.size >= LIMITS.inFlightPerRunner) {
      const detail = `${LIMITS.inFlightPerRunner} requests are in flight on this runner.`;
      return { ok: false, heard: false, problem: createProblem("overloaded", detail, { retryAfterMs: 100 }) };
    }
    const answer = asked.add(requestId, attachmentOf(socket).connectionId, budgetMs, () => onDeadline(socket));
    try {
      socket.send(message);
    } catch {
      const problem = createProblem("runner-offline", "The runner's socket has closed.", { retryAfterMs: 1_000 });
      asked.fail(requestId, problem);
    }
    return answer;
  }

  #socket(): WebSocket | null {
    return this.#openSockets()[0] ?? null;
  }

  /** Whether a socket is open, other than that of a connection which is at its end. */
  #isConnected(goneId?: string): boolean {
    return this.#openSockets().some((socket) => attachmentOf(socket).connectionId !== goneId);
  }

  #openSockets(): WebSocket[] {
    return openSockets(this.ctx);
  }

  #queue() {
    return jobQueue(this.env);
  }
}
