import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Logger } from "pino";
import { createProblem, type Problem, toProblem } from "../../protocol/wire/problem.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import type { MetricFamily } from "../../telemetry/metric.ts";
import { chooseMetricsForm, METRICS_MEDIA_TYPES, renderMetrics } from "../../telemetry/render-metrics.ts";
import type { ListenAddress } from "../config.ts";
import { type OpenServer, openServer } from "../host/open-server.ts";
import { ProcessMeter } from "../host/process-meter.ts";
import type { SpanExport } from "../host/span-export.ts";
import type { ResidencyManager } from "../memory/residency-manager.ts";
import type { DeviceFleet } from "../serving/device-fleet.ts";
import { describeRunner, type DeviceState, type RunnerState } from "./describe-runner.ts";
import type { Watch } from "./watch.ts";

const MICROSECONDS_PER_MS = 1_000;

/** Sources of the metrics. */
export interface MetricParts {
  readonly runnerId: string;
  readonly fleet: Pick<DeviceFleet, "all" | "guard">;
  readonly residency: Pick<ResidencyManager, "report" | "counters">;
  readonly jobs: { counts(): RunnerState["jobs"] };
  readonly watch: Pick<Watch, "probes">;
  readonly spans: Pick<SpanExport, "dropped">;
}

/** Counters of a runner for scraping. */
export class RunnerMetrics {
  readonly #parts: MetricParts;
  readonly #processes = new ProcessMeter();
  /** CPU time of each device's processes so far. */
  readonly #deviceCpuMs = new Map<string, number>();
  /** Scrapes are in turn: two at once would share the CPU time since the last. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: MetricParts) {
    this.#parts = parts;
  }

  read(): Promise<MetricFamily[]> {
    const reading = this.#turn.then(() => this.#read());
    this.#turn = reading.catch(() => undefined);
    return reading;
  }

  async #read(): Promise<MetricFamily[]> {
    const { runnerId, fleet, residency, jobs, watch, spans } = this.#parts;
    const [{ byPid }, memory] = await Promise.all([this.#processes.read(), residency.report()]);
    const nowMs = performance.now();
    const { user, system } = process.cpuUsage();
    const devices = fleet.all().map(({ host, server }): DeviceState => {
      const { key: deviceKey, kind, name, software } = host.device;
      const use = host.pid === null ? undefined : byPid.get(host.pid);
      const cpuMs = (this.#deviceCpuMs.get(deviceKey) ?? 0) + (use?.cpuMs ?? 0);
      this.#deviceCpuMs.set(deviceKey, cpuMs);
      const { waiting, meter } = server;
      const serving = meter.total(nowMs);
      const { restarts } = host;
      return { deviceKey, kind, name, software, waiting, restarts, cpuMs, rssBytes: use?.rssBytes ?? null, serving };
    });
    return describeRunner({
      version: VERSION,
      runnerId,
      startedAtMs: performance.timeOrigin,
      cpuMs: (user + system) / MICROSECONDS_PER_MS,
      rssBytes: process.memoryUsage.rss(),
      devices,
      kernelRuns: fleet.guard.attempts,
      tiers: memory.tiers,
      migrationBytes: residency.counters().migrationBytes,
      jobs: jobs.counts(),
      probes: watch.probes,
      droppedSpans: spans.dropped,
    });
  }
}

const PATH = "/metrics";
const CONNECTIONS = 16;
const HEAD_MS = 10_000;

/** Serves `GET /metrics` to any client that reaches it. Rejects where the address is not available. */
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
  const opened = await openServer(server, address, "MILLRACE_METRICS");
  logger.info({ url: `${opened.origin}${PATH}` }, "serving metrics");
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
    logger.error({ error: String(error) }, "cannot serve metrics");
    refuse(response, toProblem(error));
  }
}

function refuse(response: ServerResponse, problem: Problem): void {
  response
    .writeHead(problem.status, { "content-type": "application/problem+json", connection: "close" })
    .end(JSON.stringify({ ...problem, instance: PATH }));
}
