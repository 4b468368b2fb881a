import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Logger } from "pino";
import { FRAME_MEDIA_TYPE } from "../../../protocol/inference/inference.ts";
import type { TicketGrant } from "../../../protocol/inference/ticket.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { type Problem, ProblemError, PROBLEMS, toProblem } from "../../../protocol/wire/problem.ts";
import { type SpanScope, traced } from "../../../telemetry/span.ts";
import type { DirectAddress } from "../../config.ts";
import { type OpenServer, openServer } from "../../host/open-server.ts";
import type { SpanExport } from "../../host/span-export.ts";
import { answerDirect, type DirectParts } from "./answer-direct.ts";
import { TicketBook, type TicketKeys } from "./tickets.ts";

/** Limits for reading the rest of an unwanted body: bytes and time. */
const DISCARDED_BYTES = 16 * 2 ** 20;
const DISCARD_MS = 1_000;

/** Body of a request; null where it is longer than `maxBytes`. Rejects where the caller disconnects. */
function takeBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | null>();
  const chunks: Buffer[] = [];
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    length += chunk.byteLength;
    if (length <= maxBytes) chunks.push(chunk);
    else resolve(null);
  });
  request.once("end", () => {
    const [only] = chunks;
    resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
  });
  request.once("close", () => reject(new Error("the caller went away")));
  return promise;
}

/** Reads the rest of a body, within limits: a caller that is still writing does not read the reply. */
async function discardBody(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    length += chunk.byteLength;
    if (length > DISCARDED_BYTES) resolve();
  });
  for (const event of ["end", "close"]) request.once(event, () => resolve());
  const timer = setTimeout(resolve, DISCARD_MS);
  await promise;
  clearTimeout(timer);
}

const PATH = "/v1/infer";
const IDLE_MS = 60_000;
const HEAD_MS = 10_000;

export interface ListenerParts extends DirectParts {
  readonly runnerId: string;
  readonly keys: TicketKeys;
  readonly spans: Pick<SpanExport, "open">;
  readonly logger: Pick<Logger, "info" | "error">;
}

/** HTTP listener of the runner: `POST /v1/infer` with a ticket, frames both ways, over plain HTTP. */
export class DirectListener {
  /** Address that clients receive. */
  readonly url: string;
  readonly #server: OpenServer;

  private constructor(server: OpenServer, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** Listens; rejects where the address is not available. */
  static async open({ host, port, url }: DirectAddress, parts: ListenerParts): Promise<DirectListener> {
    const answerer = new Answerer(parts);
    const server = createServer(
      { maxHeaderSize: LIMITS.directHeadBytes, headersTimeout: HEAD_MS, keepAliveTimeout: IDLE_MS, noDelay: true },
      (request, response) => void answerer.answer(request, response),
    );
    server.maxConnections = LIMITS.directConnections;
    const opened = await openServer(server, { host, port });
    const listener = new DirectListener(opened, `${(url ?? opened.origin).replace(/\/+$/, "")}${PATH}`);
    parts.logger.info({ url: listener.url, host, port: opened.port }, "taking direct requests");
    return listener;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}

/** Answers a limited number of requests at once. */
class Answerer {
  readonly #parts: ListenerParts;
  readonly #tickets: TicketBook;
  #inFlight = 0;

  constructor(parts: ListenerParts) {
    this.#parts = parts;
    this.#tickets = new TicketBook(parts.keys, parts.runnerId);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrivedMs = performance.now();
    try {
      const frame = await this.#infer(request, response, arrivedMs);
      response.writeHead(200, { "content-type": FRAME_MEDIA_TYPE, "content-length": frame.byteLength }).end(frame);
    } catch (error) {
      const problem = toProblem(error);
      if (problem.code === "internal" && !request.destroyed)
        this.#parts.logger.error({ error: String(error) }, "a direct request failed unexpectedly");
      // At the deadline it does not wait for anything else.
      if (problem.code !== "budget-exceeded") await discardBody(request);
      refuse(response, problem, request.complete);
    }
  }

  async #infer(request: IncomingMessage, response: ServerResponse, arrivedMs: number): Promise<Uint8Array> {
    if (request.url !== PATH) throw new ProblemError("not-found", `There is only ${PATH} here.`);
    if (request.method !== "POST") throw new ProblemError("method-not-allowed", `${PATH} takes POST.`);
    const grant = this.#tickets.use(request.headers.authorization, arrivedMs);
    const gone = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    try {
      const { deviceKey, variant, backend } = grant;
      const attributes = { "millrace.device": deviceKey, "millrace.variant": variant, "millrace.backend": backend };
      const scope = this.#parts.spans.open(request.headers["traceparent"]?.toString());
      return await traced(scope, "infer", { kind: "server", attributes }, (within) =>
        this.#inferFor(grant, request, arrivedMs, gone.signal, within),
      );
    } catch (error) {
      if (!gone.signal.aborted) this.#reportRefusal(grant, toProblem(error).code, arrivedMs);
      throw error;
    }
  }

  async #inferFor(
    grant: TicketGrant,
    request: IncomingMessage,
    arrivedMs: number,
    signal: AbortSignal,
    scope: SpanScope | null,
  ): Promise<Uint8Array> {
    if (this.#inFlight >= LIMITS.directInFlight) {
      const detail = `${LIMITS.directInFlight} direct requests are in flight on this runner.`;
      throw new ProblemError("overloaded", detail, { retryAfterMs: 100 });
    }
    assertFrame(request);
    this.#inFlight++;
    try {
      const body = await readBody(request, grant.budgetMs);
      return await answerDirect(this.#parts, { grant, body, arrivedMs, signal, scope });
    } finally {
      this.#inFlight--;
    }
  }

  /** Reports a refusal to the edge; a caller's mistake does not count as a request. */
  #reportRefusal({ placementId }: TicketGrant, code: Problem["code"], arrivedMs: number): void {
    if (PROBLEMS[code].fault === "client") return;
    const totalMs = performance.now() - arrivedMs;
    this.#parts.outcomes.add({ placementId, rows: 1, totalMs, times: null, refusedFor: code });
  }
}

/** Reads the whole body; throws `budget-exceeded` where it takes longer than the budget. */
async function readBody(request: IncomingMessage, budgetMs: number): Promise<Uint8Array> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new ProblemError("budget-exceeded", "The body did not come within the budget.")),
    budgetMs,
  );
  try {
    const body = await Promise.race([takeBody(request, LIMITS.inferBodyBytes), late]);
    if (body === null) throw tooLarge();
    return body;
  } finally {
    clearTimeout(timer);
  }
}

function assertFrame({ headers }: IncomingMessage): void {
  const mediaType = headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (mediaType !== FRAME_MEDIA_TYPE) {
    const message = `must be ${FRAME_MEDIA_TYPE}`;
    throw new ProblemError("unsupported-media-type", `The content type ${message}.`, {
      errors: [{ pointer: "header/content-type", message }],
    });
  }
  if (Number(headers["content-length"] ?? 0) > LIMITS.inferBodyBytes) throw tooLarge();
}

function tooLarge(): ProblemError {
  const message = `must be at most ${LIMITS.inferBodyBytes} bytes`;
  return new ProblemError("payload-too-large", `The body ${message}.`, { errors: [{ pointer: "#", message }] });
}

function refuse(response: ServerResponse, problem: Problem, isRead: boolean): void {
  const { code, status, retryAfterMs } = problem;
  const body = JSON.stringify({ ...problem, instance: PATH });
  if (!isRead) response.setHeader("connection", "close");
  if (code === "method-not-allowed") response.setHeader("allow", "POST");
  if (retryAfterMs !== undefined) response.setHeader("retry-after", Math.ceil(retryAfterMs / 1_000));
  response
    .writeHead(status, {
      "content-type": "application/problem+json",
      "content-length": Buffer.byteLength(body),
      "cache-control": "no-store",
    })
    .end(body);
}
