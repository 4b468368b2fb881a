import { createServer } from "node:http";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { DirectAddress } from "../../config.ts";
import { type OpenServer, openServer } from "../../host/open-server.ts";
import { DirectAnswerer, type ListenerParts, PATH } from "./direct-answerer.ts";

const IDLE_MS = 60_000;
const HEAD_MS = 10_000;

/**
 * HTTP listener of the runner for holders of tickets: `POST /v1/infer` with frames both ways, and the Open Inference
 * Protocol under `/v2`, over plain HTTP.
 */
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
    const answerer = new DirectAnswerer(parts);
    const server = createServer(
      { maxHeaderSize: LIMITS.directHeadBytes, headersTimeout: HEAD_MS, keepAliveTimeout: IDLE_MS, noDelay: true },
      (request, response) => void answerer.answer(request, response),
    );
    server.maxConnections = LIMITS.directConnections;
    const opened = await openServer(server, { host, port }, "MILLRACE_DIRECT");
    const listener = new DirectListener(opened, `${(url ?? opened.origin).replace(/\/+$/, "")}${PATH}`);
    parts.logger.info({ url: listener.url, host, port: opened.port }, "taking direct requests");
    return listener;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}
