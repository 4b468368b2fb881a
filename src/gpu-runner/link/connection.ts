import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { errorOf, type Fault, sentenceOf } from "../../checkup/fault.ts";
import { nameUnknownCredential, REGISTER } from "../../checkup/judge-host.ts";
import { judgeClock, nameWebSocketFault, type Reached, reachEdge } from "../../checkup/reach-edge.ts";
import { buildRequest } from "../../client/request-and-reply.ts";
import { CLOSE_CODES, LINK_SUBPROTOCOL, PONG } from "../../protocol/link.ts";
import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { parseProblem, ProblemError } from "../../protocol/wire/problem.ts";
import type { StoredCredential } from "../../checkup/runner-folder.ts";
import type { Troubles } from "../host/troubles.ts";

const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 10_000;
const OPEN_TIMEOUT_MS = 10_000;
/** Number of sockets that broke within `CUTS_MS` of each other from which something between is to blame. */
const CUTS = 3;
const CUTS_MS = 300_000;
/** A clock may be set, or go wrong, while the link is up. */
const CLOCK_MS = 3_600_000;

type CloseReason = Pick<CloseEvent, "code" | "reason">;
/** Close codes that will come again until either end is corrected. */
const REFUSALS = new Set<number>([CLOSE_CODES.protocolError, 1011]);
/** Of a socket that ended without a close frame (RFC 6455, section 7.1.5). */
const ABNORMAL = 1006;
const SILENT: CloseReason = { code: CLOSE_CODES.silent, reason: "the edge fell silent" };

/** Handlers of a connection. */
export interface ConnectionHandlers {
  /** `abandon` drops a silent socket: its close event may never come. */
  opened(socket: WebSocket, abandon: () => void): void;
  received(data: string | Uint8Array): void;
  /** Anything was received, a pong too. */
  heard(): void;
  closed(): void;
  /** The runner is stopping: messages sent now still go out, where there is a socket. */
  stopping(): void;
}

export interface ConnectionLog {
  readonly logger: Logger;
  readonly troubles: Troubles;
}

/**
 * Keeps one socket to the edge open, with jittered exponential backoff between attempts, until the signal aborts.
 * Throws where reconnecting is pointless: the runner was removed or replaced, or its credential is refused.
 */
export async function keepConnected(
  credential: StoredCredential,
  handlers: ConnectionHandlers,
  signal: AbortSignal,
  { logger, troubles }: ConnectionLog,
): Promise<void> {
  signal.addEventListener("abort", () => handlers.stopping(), { once: true });
  const cuts = new LinkCuts(credential, troubles);
  const looking = setInterval(() => void lookAtEdge(originOf(credential), troubles), CLOCK_MS).unref();
  signal.addEventListener("abort", () => clearInterval(looking), { once: true });
  let refusals = 0;
  while (!signal.aborted) {
    const socket = await connect(credential, signal, troubles, cuts);
    if (socket === null) return;
    const openedAtMs = performance.now();
    const { promise: abandoned, resolve } = Promise.withResolvers<CloseReason>();
    const closed = once(socket, "close").then(([event]: CloseEvent[]): CloseReason => event ?? SILENT);
    const stop = () => socket.close(1000, "stopping");
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    let isHeard = false;
    const receive = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      isHeard = true;
      handlers.heard();
      if (data !== PONG) handlers.received(typeof data === "string" ? data : new Uint8Array(data));
    };
    socket.addEventListener("message", receive);
    handlers.opened(socket, () => resolve(SILENT));
    const lasting = setTimeout(() => troubles.ended("link-cut"), CUTS_MS);
    const { code, reason } = await Promise.race([closed, abandoned]);
    clearTimeout(lasting);
    signal.removeEventListener("abort", stop);
    socket.removeEventListener("message", receive);
    socket.close();
    handlers.closed();
    logger.info({ code, reason }, "disconnected");
    if (code === CLOSE_CODES.removed) throw errorOf(removed(credential));
    if (code === CLOSE_CODES.replaced) throw errorOf(replaced(credential));
    if (!signal.aborted) cuts.note(code, isHeard, performance.now() - openedAtMs);
    refusals = REFUSALS.has(code) ? refusals + 1 : 0;
    await pause(refusals, signal);
  }
}

/** An edge that accepts and drops the socket must not be called in a tight loop; one that refuses, ever less often. */
async function pause(failures: number, signal: AbortSignal): Promise<void> {
  const pauseMs = Math.min(MIN_BACKOFF_MS * 2 ** failures, MAX_BACKOFF_MS / 2) * (1 + Math.random());
  await delay(pauseMs, undefined, { signal }).catch(() => undefined);
}

const originOf = ({ linkUrl }: Pick<StoredCredential, "linkUrl">) => new URL(linkUrl.replace(/^ws/, "http")).origin;

async function connect(
  credential: StoredCredential,
  signal: AbortSignal,
  troubles: Troubles,
  cuts: LinkCuts,
): Promise<WebSocket | null> {
  for (let failures = 0; !signal.aborted; failures++) {
    const opened = await openSocket(credential, signal, troubles);
    if (opened === null) return null;
    if (opened instanceof WebSocket) {
      cuts.count();
      troubles.ended("link");
      return opened;
    }
    cuts.forget();
    troubles.tell(opened, "link");
    await pause(failures, signal);
  }
  return null;
}

/** The open socket, or what is in its way; null once the signal aborts. Throws where no further attempt helps. */
async function openSocket(
  access: StoredCredential,
  signal: AbortSignal,
  troubles: Troubles,
): Promise<WebSocket | Fault | null> {
  const { linkUrl, credential } = access;
  const headers = { authorization: `Bearer ${credential}` };
  const socket = new WebSocket(linkUrl, { protocols: [LINK_SUBPROTOCOL], headers } as never);
  socket.binaryType = "arraybuffer";
  // `once` rejects by itself for emitters only: for a refused socket it would wait for the timeout.
  const refused = new AbortController();
  socket.addEventListener("error", () => refused.abort(), { once: true });
  const ends = [signal, refused.signal, AbortSignal.timeout(OPEN_TIMEOUT_MS)];
  const isOpen = await once(socket, "open", { signal: AbortSignal.any(ends) }).then(
    () => true,
    () => false,
  );
  if (isOpen && !signal.aborted) return socket;
  socket.close();
  return signal.aborted ? null : nameRefusal(access, troubles);
}

/** A failed handshake gives no reason: ordinary requests do. */
async function nameRefusal(access: StoredCredential, troubles: Troubles): Promise<Fault> {
  const fault = await askForLink(access, troubles);
  return fault ?? nameWebSocketFault(originOf(access), "the handshake fails, where a plain request is answered");
}

/** Asks the edge how it is, and tells what is wrong with this machine's clock. */
export async function lookAtEdge(edgeUrl: string, troubles: Troubles): Promise<Reached> {
  const reached = await reachEdge(edgeUrl, { environment: process.env });
  if (reached.kind === "fault" || reached.aheadMs === null) return reached;
  const clock = judgeClock(reached.aheadMs, reached.withinMs);
  if (clock === null) troubles.ended("clock");
  else troubles.tell(clock, "clock");
  return reached;
}

/**
 * What is in the way of a link, as ordinary requests find it; null for nothing. Throws where no further attempt helps:
 * the credential is unknown, or no release of the link is common.
 */
export async function askForLink(access: StoredCredential, troubles: Troubles): Promise<Fault | null> {
  const origin = originOf(access);
  const reached = await lookAtEdge(origin, troubles);
  if (reached.kind === "fault") {
    troubles.tell(reached.fault, "link");
    return reached.fault;
  }
  const target = { baseUrl: origin, key: access.credential };
  const signal = AbortSignal.timeout(OPEN_TIMEOUT_MS);
  const { url, init } = buildRequest(target, runnerEndpoints.connectRunner, { signal });
  const response = await fetch(url, init).catch(() => null);
  const problem = parseProblem((await response?.text().catch(() => "")) ?? "")?.problem;
  if (response?.status === 401) throw errorOf(nameUnknownCredential(access.edgeUrl, access.runnerId));
  if (reached.mismatch !== null) throw new ProblemError("upgrade-required", sentenceOf(reached.mismatch));
  if (problem?.code === "upgrade-required") return null;
  return {
    cause: "link-refused",
    found: `${origin} takes no link now: ${problem?.detail ?? `status ${response?.status ?? "unknown"}`}`,
    advice: "The runner tries again by itself; look at the edge's log.",
  };
}

function removed({ edgeUrl, runnerId }: StoredCredential): Fault {
  return {
    cause: "credential",
    found: `This runner, ${runnerId}, was removed at ${edgeUrl}`,
    advice: `To use it again, ${REGISTER}.`,
  };
}

function replaced({ runnerId }: StoredCredential): Fault {
  return {
    cause: "replaced",
    found: `Another process runs with this runner's credential, ${runnerId}`,
    advice: `Stop it; if its folder is a copy of this one, ${REGISTER}.`,
  };
}

/** Sockets that broke without a goodbye: one is everyday, several have a reason between the ends. */
class LinkCuts {
  readonly #host: string;
  readonly #troubles: Troubles;
  #atMs: number[] = [];
  #last: { readonly atMs: number; readonly livedMs: number } | null = null;

  constructor({ linkUrl }: StoredCredential, troubles: Troubles) {
    this.#host = new URL(linkUrl).host;
    this.#troubles = troubles;
  }

  /** Notes the end of a socket that was open for `livedMs`. */
  note(code: number, isHeard: boolean, livedMs: number): void {
    if (code === CLOSE_CODES.silent && !isHeard) return this.#troubles.tell(this.#mute(livedMs), "link-cut");
    if (code === ABNORMAL || code === CLOSE_CODES.silent) this.#last = { atMs: performance.now(), livedMs };
  }

  /** The next attempt failed: the edge itself was gone. */
  forget(): void {
    this.#last = null;
  }

  /** The next attempt found the edge up. */
  count(): void {
    if (this.#last === null) return;
    const { atMs, livedMs } = this.#last;
    this.#last = null;
    this.#atMs = [...this.#atMs.filter((earlierMs) => atMs - earlierMs < CUTS_MS), atMs];
    if (this.#atMs.length >= CUTS) this.#troubles.tell(this.#cut(livedMs), "link-cut");
  }

  #mute(livedMs: number): Fault {
    return {
      cause: "link-mute",
      found: `The WebSocket to ${this.#host} opens, but nothing came through it in ${inSeconds(livedMs)} s`,
      advice: "Look for a proxy between that holds messages back: have it pass WebSockets unbuffered.",
    };
  }

  #cut(livedMs: number): Fault {
    const [firstMs = 0] = this.#atMs;
    const spanS = inSeconds(performance.now() - firstMs);
    return {
      cause: "link-cut",
      found: `The link to ${this.#host} was cut ${this.#atMs.length} times in ${spanS} s, last after ${inSeconds(livedMs)} s`,
      advice:
        "Unless the edge restarts, a proxy or firewall between ends WebSockets: raise its idle timeout and its limit of their life.",
    };
  }
}

const inSeconds = (durationMs: number) => (durationMs / 1e3).toFixed(1);
