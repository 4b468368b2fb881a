import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { createProblem, type Problem, toProblem } from "../../protocol/problem.ts";
import { chooseMetricsForm, METRICS_MEDIA_TYPES } from "../../telemetry/metrics-form.ts";
import { renderMetrics } from "../../telemetry/render-metrics.ts";
import type { ListenAddress } from "../config.ts";
import type { RunnerMetrics } from "./runner-metrics.ts";

const PATH = "/metrics";
const CONNECTIONS = 16;
const HEAD_MS = 10_000;

/** Where the runner is scraped: `GET /metrics`, for whoever reaches it. */
export class MetricsListener {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** Listens; rejects where the address cannot be had. */
  static async open(
    { host, port }: ListenAddress,
    metrics: Pick<RunnerMetrics, "read">,
    logger: Pick<Logger, "info" | "error">,
  ): Promise<MetricsListener> {
    const server = createServer(
      { headersTimeout: HEAD_MS, requestTimeout: HEAD_MS },
      (request, response) => void answer(metrics, logger, request, response),
    );
    server.maxConnections = CONNECTIONS;
    server.listen(port, host);
    await once(server, "listening");
    const { port: taken } = server.address() as AddressInfo;
    const listener = new MetricsListener(server, `http://${host.includes(":") ? `[${host}]` : host}:${taken}${PATH}`);
    logger.info({ url: listener.url }, "telling metrics");
    return listener;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

async function answer(
  metrics: Pick<RunnerMetrics, "read">,
  logger: Pick<Logger, "error">,
  { url, method, headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path] = (url ?? "").split("?");
  if (path !== PATH) return refuse(response, createProblem("not-found", `There is only ${PATH} here.`));
  if (method !== "GET") {
    response.setHeader("allow", "GET");
    return refuse(response, createProblem("method-not-allowed", `${PATH} takes GET.`));
  }
  try {
    const form = chooseMetricsForm(headers.accept);
    const text = renderMetrics(await metrics.read(), form);
    response.writeHead(200, { "content-type": METRICS_MEDIA_TYPES[form] }).end(text);
  } catch (error) {
    logger.error({ error: String(error) }, "cannot tell metrics");
    refuse(response, toProblem(error));
  }
}

function refuse(response: ServerResponse, problem: Problem): void {
  response
    .writeHead(problem.status, { "content-type": "application/problem+json", connection: "close" })
    .end(JSON.stringify({ ...problem, instance: PATH }));
}
