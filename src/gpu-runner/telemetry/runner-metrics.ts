import { VERSION } from "../../protocol/version.ts";
import type { MetricFamily } from "../../telemetry/metric.ts";
import type { DeviceFleet } from "../device-fleet.ts";
import type { ResidencyManager } from "../memory/residency-manager.ts";
import { ProcessMeter } from "../watch/process-meter.ts";
import type { Watch } from "../watch/watch.ts";
import type { JobRunner } from "../workloads/job-runner.ts";
import { describeRunner, type DeviceState } from "./describe-runner.ts";
import type { SpanExport } from "./span-export.ts";

const MICROSECONDS_PER_MS = 1_000;

/** What is looked at. */
export interface MetricParts {
  readonly runnerId: string;
  readonly fleet: Pick<DeviceFleet, "all" | "guard">;
  readonly residency: Pick<ResidencyManager, "report" | "counters">;
  readonly jobs: Pick<JobRunner, "counts">;
  readonly watch: Pick<Watch, "probes">;
  readonly spans: Pick<SpanExport, "dropped">;
}

/** What is counted of a runner, for whoever scrapes it. */
export class RunnerMetrics {
  readonly #parts: MetricParts;
  readonly #processes = new ProcessMeter();
  /** CPU time of each device's processes so far. */
  readonly #deviceCpuMs = new Map<string, number>();
  /** Two scrapes at once would both be told what one process took since the last. */
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
