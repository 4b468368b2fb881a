import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import pRetry, { AbortError } from "p-retry";
import type { Logger } from "pino";
import { buildRequest } from "../../client/request-and-reply.ts";
import { CLOSE_CODES, LINK_SUBPROTOCOL, PONG } from "../../protocol/link.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import type { StoredCredential } from "./registration.ts";
import { refuseOtherProtocol } from "./versions.ts";

const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 10_000;
const OPEN_TIMEOUT_MS = 10_000;

type CloseReason = Pick<CloseEvent, "code" | "reason">;
/** Close codes that will come again until either end is corrected. */
const REFUSALS = new Set<number>([CLOSE_CODES.protocolError, 1011]);
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

/**
 * Keeps one socket to the edge open, with jittered exponential backoff between attempts, until the signal aborts.
 * Throws where reconnecting is pointless: the runner was removed or replaced, or its credential is refused.
 */
export async function keepConnected(
  credential: StoredCredential,
  handlers: ConnectionHandlers,
  signal: AbortSignal,
  logger: Logger,
): Promise<void> {
  signal.addEventListener("abort", () => handlers.stopping(), { once: true });
  let refusals = 0;
  while (!signal.aborted) {
    const socket = await connect(credential, signal, logger);
    if (socket === null) return;
    const { promise: abandoned, resolve } = Promise.withResolvers<CloseReason>();
    const closed = once(socket, "close").then(([event]: CloseEvent[]): CloseReason => event ?? SILENT);
    const stop = () => socket.close(1000, "stopping");
    signal.addEventListener("abort", stop, { once: true });
    const receive = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      handlers.heard();
      if (data !== PONG) handlers.received(typeof data === "string" ? data : new Uint8Array(data));
    };
    socket.addEventListener("message", receive);
    handlers.opened(socket, () => resolve(SILENT));
    const { code, reason } = await Promise.race([closed, abandoned]);
    signal.removeEventListener("abort", stop);
    socket.removeEventListener("message", receive);
    socket.close();
    handlers.closed();
    logger.info({ code, reason }, "disconnected");
    if (code === CLOSE_CODES.removed) throw new Error("This runner was removed at the edge.");
    if (code === CLOSE_CODES.replaced) throw new Error("Another process runs with this runner's credential.");
    refusals = REFUSALS.has(code) ? refusals + 1 : 0;
    await delay(pauseMs(refusals), undefined, { signal }).catch(() => undefined);
  }
}

/** An edge that accepts and drops the socket must not be called in a tight loop; one that refuses, ever less often. */
function pauseMs(refusals: number): number {
  return Math.min(MIN_BACKOFF_MS * 2 ** refusals, MAX_BACKOFF_MS) * (1 + Math.random());
}

async function connect(credential: StoredCredential, signal: AbortSignal, logger: Logger): Promise<WebSocket | null> {
  try {
    return await pRetry(() => openSocket(credential), {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: MIN_BACKOFF_MS,
      maxTimeout: MAX_BACKOFF_MS,
      factor: 2,
      randomize: true,
      signal,
      onFailedAttempt: ({ error, attemptNumber }) =>
        logger.warn({ attemptNumber, error: error.message }, "cannot connect"),
    });
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

async function openSocket({ linkUrl, credential }: StoredCredential): Promise<WebSocket> {
  const headers = { authorization: `Bearer ${credential}` };
  const socket = new WebSocket(linkUrl, { protocols: [LINK_SUBPROTOCOL], headers } as never);
  socket.binaryType = "arraybuffer";
  // `once` rejects by itself for emitters only: for a refused socket it would wait for the timeout.
  const refused = new AbortController();
  socket.addEventListener("error", () => refused.abort(), { once: true });
  try {
    await once(socket, "open", { signal: AbortSignal.any([refused.signal, AbortSignal.timeout(OPEN_TIMEOUT_MS)]) });
    return socket;
  } catch (cause) {
    socket.close();
    await refuseIfUnauthorised({ linkUrl, credential });
    await refuseOtherProtocol(linkUrl, AbortSignal.timeout(OPEN_TIMEOUT_MS)).catch(abortOnProblem);
    throw new Error(`${linkUrl} cannot be reached`, { cause });
  }
}

/** Permanent problems end the attempts; any other error is one failed attempt. */
function abortOnProblem(error: unknown): never {
  throw error instanceof ProblemError ? new AbortError(error) : error;
}

/** A failed handshake gives no reason: an ordinary request to the same route does. */
async function refuseIfUnauthorised({
  linkUrl,
  credential,
}: Pick<StoredCredential, "linkUrl" | "credential">): Promise<void> {
  const target = { baseUrl: new URL(linkUrl.replace(/^ws/, "http")).origin, key: credential };
  const signal = AbortSignal.timeout(OPEN_TIMEOUT_MS);
  const { url, init } = buildRequest(target, runnerEndpoints.connectRunner, { signal });
  const response = await fetch(url, init);
  await response.body?.cancel();
  if (response.status === 401)
    throw new AbortError("The edge does not know this runner's credential. Register it again.");
}
