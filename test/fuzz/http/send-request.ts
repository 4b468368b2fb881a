import { Agent, type IncomingMessage, request as open } from "node:http";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { FuzzRequest } from "./fuzz-request.ts";

/** Limit of a reply's bytes: the rest of a stream, or of a large file, is not awaited. */
const READ_BYTES = 4 * 2 ** 20;
/** Time for which a started stream is read. */
const STREAM_MS = 20;
/** Time for the edge to notice that its client is gone. */
const TRUNCATED_MS = 20;

export interface FuzzReply {
  readonly status: number;
  readonly contentType: string;
  /** Null of a reply that goes on: a stream, or a socket. */
  readonly text: string | null;
}

export type Sent =
  | { readonly kind: "replied"; readonly reply: FuzzReply }
  /** Without a reply to judge: the request was cut off by ourselves. */
  | { readonly kind: "cut" }
  | { readonly kind: "failed"; readonly reason: string };

class StaleConnection extends Error {}

/** Sends requests to one edge over connections that stay open; each has `deadlineMs` for its whole reply. */
export class RequestSender {
  readonly #agent: Agent;
  readonly #host: string;
  readonly #port: number;
  readonly #deadlineMs: number;

  constructor(baseUrl: string, connections: number, deadlineMs: number) {
    const { hostname, port } = new URL(baseUrl);
    this.#host = hostname;
    this.#port = Number(port);
    this.#deadlineMs = deadlineMs;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  async send(request: FuzzRequest): Promise<Sent> {
    if (request.isTruncated) return this.#sendTruncated(request);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), this.#deadlineMs);
    try {
      return { kind: "replied", reply: await this.#exchangeAnew(request, deadline.signal) };
    } catch (error) {
      const hung = deadline.signal.aborted;
      return { kind: "failed", reason: hung ? `no reply in ${this.#deadlineMs} ms` : describe(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  /** A connection that was idle may have ended as the request came: then, and only then, it is sent once more. */
  async #exchangeAnew(request: FuzzRequest, signal: AbortSignal): Promise<FuzzReply> {
    try {
      return await this.#exchange(request, signal);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      return await this.#exchange(request, signal);
    }
  }

  #exchange({ method, path, headers, body }: FuzzRequest, signal: AbortSignal): Promise<FuzzReply> {
    return new Promise((resolve, reject) => {
      const length = body === null ? {} : { "content-length": String(body.byteLength) };
      const options = { host: this.#host, port: this.#port, agent: this.#agent, signal };
      const sent = open({ ...options, method, path, headers: { ...headers, ...length } }, (response) => {
        readReply(response, () => sent.destroy()).then(resolve, reject);
      });
      sent.on("upgrade", (response, socket) => {
        socket.destroy();
        resolve({ status: response.statusCode ?? 0, contentType: "", text: null });
      });
      sent.on("error", (error) => {
        const isStale = sent.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET";
        reject(isStale ? new StaleConnection() : error);
      });
      sent.end(body ?? undefined);
    });
  }

  /** A body that ends before its length does. */
  #sendTruncated({ method, path, headers, body }: FuzzRequest): Promise<Sent> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, this.#host);
      const lines = Object.entries({
        host: this.#host,
        ...headers,
        "content-length": String(10 * (body?.length ?? 0)),
      });
      socket.on("error", () => resolve({ kind: "cut" }));
      socket.on("close", () => resolve({ kind: "cut" }));
      socket.on("connect", () => {
        socket.write(
          `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
        );
        if (body !== null) socket.write(body);
        void delay(TRUNCATED_MS).then(() => socket.destroy());
      });
    });
  }
}

async function readReply(response: IncomingMessage, stop: () => void): Promise<FuzzReply> {
  const { statusCode: status = 0, headers } = response;
  const contentType = (headers["content-type"] ?? "").split(";")[0] ?? "";
  if (contentType === "text/event-stream") {
    response.on("error", () => undefined);
    response.resume();
    await delay(STREAM_MS);
    stop();
    return { status, contentType, text: null };
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length > READ_BYTES) break;
  }
  return { status, contentType, text: length > READ_BYTES ? null : Buffer.concat(chunks).toString() };
}

function describe(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
