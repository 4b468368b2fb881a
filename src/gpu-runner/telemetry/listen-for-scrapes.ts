import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Logger } from "pino";
import { createProblem, type Problem, toProblem } from "../../protocol/problem.ts";
import { chooseMetricsForm, METRICS_MEDIA_TYPES } from "../../telemetry/metrics-form.ts";
import { renderMetrics } from "../../telemetry/render-metrics.ts";
import type { ListenAddress } from "../config.ts";
import { type OpenServer, openServer } from "../open-server.ts";
import type { RunnerMetrics } from "./runner-metrics.ts";

const PATH = "/metrics";
const CONNECTIONS = 16;
const HEAD_MS = 10_000;

/** Lets the runner be scraped: `GET /metrics`, for whoever reaches it. Rejects where the address cannot be had. */
export async function listenForScrapes(
  address: ListenAddress,
  metrics: Pick<RunnerMetrics, "read">,
  logger: Pick<Logger, "info" | "error">,
): Promise<OpenServer> {
  const server = createServer(
    { headersTimeout: HEAD_MS, requestTimeout: HEAD_MS },
    (request, response) => void answer(metrics, logger, request, response),
  );
  server.maxConnections = CONNECTIONS;
  const opened = await openServer(server, address);
  logger.info({ url: `${opened.origin}${PATH}` }, "telling metrics");
  return opened;
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
