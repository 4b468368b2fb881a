import { cpus, freemem, loadavg, totalmem } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Logger } from "pino";
import { type Device, modelBackendOf } from "../../protocol/fleet/hardware.ts";
import { type KernelHealth, LiveReport, type Sensor } from "../../protocol/fleet/health.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { LiveRequest, Offer, PlacedModel } from "../../protocol/link.ts";
import { BusyClock } from "../serving/queue/serving-meter.ts";
import type { DeviceFleet } from "../serving/device-fleet.ts";
import type { LinkChannel } from "../link/link-channel.ts";
import type { ResidencyManager } from "../memory/residency-manager.ts";
import type { ModelLoader } from "../serving/model-loader.ts";
import type { WorkloadResult } from "../kinds/kind.ts";
import { kernelHealthOf, placementsOf } from "../kinds/registry.ts";
import { describeHealth, type HealthNow } from "./describe-health.ts";
import { LiveLoop } from "./live-loop.ts";
import { prepareProbe, WatchedPlacements } from "./prepare-probe.ts";
import { ProbeLoop } from "./probe-loop.ts";
import { ProcessMeter, type ProcessUses } from "../host/process-meter.ts";
import { type DeviceTally, mergeSpans, NO_SPAN, type SpanTally } from "./span-tally.ts";

export interface WatchParts {
  readonly fleet: Pick<DeviceFleet, "all" | "find">;
  readonly models: Pick<ModelLoader, "ensureReady" | "configurationOf">;
  readonly residency: Pick<ResidencyManager, "counters">;
  readonly channel: Pick<LinkChannel, "send">;
  /** Clocks and temperatures, as far as they can be read. */
  readonly readSensors: (devices: readonly Device[]) => Promise<Sensor[]>;
  readonly logger: Pick<Logger, "error">;
}

/** Interval of event-loop lag samples: short enough for a 99th percentile, too long to cost anything. */
const LAG_STEP_MS = 50;
const NANOSECONDS_PER_MS = 1e6;

/** Reports this runner's health to the edge at the interval that it requests, and probes placements meanwhile. */
export class Watch {
  readonly #parts: WatchParts;
  readonly #placements: WatchedPlacements;
  readonly #probes: ProbeLoop;
  readonly #processes = new ProcessMeter();
  readonly #lag = monitorEventLoopDelay({ resolution: LAG_STEP_MS });
  readonly #jobs = new BusyClock();
  /** By device. */
  readonly #kernels = new Map<string, KernelHealth>();
  /** Span of the last regular report, and the tally since then. */
  #last = NO_SPAN;
  #since = NO_SPAN;
  /** Tally since the last live report. */
  #sinceLive = NO_SPAN;
  readonly #live = new LiveLoop(() => this.#reportLive());
  #cutAtMs = performance.now();
  #cores = readCores();
  #moved: ReturnType<ResidencyManager["counters"]>;
  #timer: NodeJS.Timeout | undefined;
  /** Reports are made in turn. */
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: WatchParts) {
    this.#parts = parts;
    const { fleet } = parts;
    this.#placements = new WatchedPlacements((deviceKey) => {
      const device = fleet.all().find(({ host }) => host.device.key === deviceKey);
      return device && modelBackendOf(device.host.device);
    });
    const prepare = prepareProbe.bind(null, parts);
    this.#probes = new ProbeLoop({ placements: this.#placements, prepare });
    this.#moved = parts.residency.counters();
  }

  /** Starts reports at this interval on a new connection, from now on. An edge that sends no interval wants none. */
  start(intervalMs: number | undefined, placed: readonly PlacedModel[]): void {
    this.stop();
    this.#placements.welcomed(placed);
    if (intervalMs === undefined) return;
    this.#lag.enable();
    void this.#inTurn(async () => {
      this.#cut(await this.#processes.read());
      [this.#last, this.#since, this.#sinceLive] = [NO_SPAN, NO_SPAN, NO_SPAN];
    });
    this.#probes.start(intervalMs);
    this.#timer = setInterval(() => this.#report(null), intervalMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#live.stop();
    this.#probes.stop();
    this.#lag.disable();
  }

  configured(placed: readonly PlacedModel[]): void {
    this.#placements.configured(placed);
  }

  /** Reports the runner's health at once. */
  answer(requestId: string): void {
    this.#report(requestId);
  }

  /** All probes since the start. */
  get probes(): ProbeLoop["total"] {
    return this.#probes.total;
  }

  /** Sends live health reports as long as they are requested. They do not affect other reports. */
  watched(request: Pick<LiveRequest, "everyMs" | "forMs">): void {
    if (!this.#live.isOn) this.#sinceLive = NO_SPAN;
    this.#live.keep(request);
  }

  /** Runs a job without probes at the same time. */
  async beside<Output>(job: () => Promise<Output>): Promise<Output> {
    this.#jobs.begin(performance.now());
    try {
      await this.#probes.pause();
      return await job();
    } finally {
      this.#probes.resume();
      this.#jobs.end(performance.now());
    }
  }

  /** Learns from a job's result: placements that agree, and the kernels' use of their device. */
  noteResult({ model, program }: Pick<Offer, "model" | "program">, { result, deviceKey }: WorkloadResult): void {
    const agreeing = placementsOf(result).filter(({ agrees }) => agrees);
    if (model !== null && agreeing.length > 0) this.#placements.add(model, agreeing);
    // A user's kernel does not show the health of the device.
    const kernels = program === undefined ? kernelHealthOf(result, new Date().toISOString()) : null;
    if (kernels !== null) this.#kernels.set(deviceKey, kernels);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work).catch((error: unknown) => {
      this.#parts.logger.error({ error }, "cannot report health");
    });
    return this.#turn;
  }

  #report(requestId: string | null): void {
    void this.#inTurn(async () => {
      const now = await this.#look();
      const span = requestId === null ? this.#since : mergeSpans(this.#last, this.#since);
      const report = describeHealth(span, now);
      if (requestId === null) [this.#last, this.#since] = [this.#since, NO_SPAN];
      this.#parts.channel.send({ type: "health", requestId, report });
    });
  }

  #reportLive(): Promise<void> {
    return this.#inTurn(async () => {
      const now = await this.#look();
      const report = LiveReport.parse(describeHealth(this.#sinceLive, now));
      this.#sinceLive = NO_SPAN;
      this.#parts.channel.send({ type: "live", report });
    });
  }

  /** Ends the current span, and reads the state at its end. */
  async #look(): Promise<HealthNow> {
    const [processes, sensors] = await Promise.all([this.#processes.read(), this.#readSensors()]);
    this.#cut(processes);
    return this.#readNow(processes, sensors);
  }

  /** Unreadable sensors do not prevent a report. */
  async #readSensors(): Promise<Sensor[]> {
    const { fleet, readSensors, logger } = this.#parts;
    try {
      const sensors = await readSensors(fleet.all().map(({ host }) => host.device));
      return sensors.slice(0, LIMITS.watchedSensors);
    } catch (error) {
      logger.error({ error }, "cannot read clocks and temperatures");
      return [];
    }
  }

  /** Adds the tally since the last cut. */
  #cut(processes: ProcessUses): void {
    const { fleet, residency } = this.#parts;
    const nowMs = performance.now();
    const [cores, moved] = [readCores(), residency.counters()];
    const devices = new Map<string, DeviceTally>();
    for (const { host, server } of fleet.all()) {
      const { cpuMs } = useOf(processes, host.pid);
      devices.set(host.device.key, { serving: server.meter.cut(nowMs), cpuMs });
    }
    const span: SpanTally = {
      spanMs: nowMs - this.#cutAtMs,
      jobMs: this.#jobs.cut(nowMs),
      coresBusyMs: cores.busyMs - this.#cores.busyMs,
      coresMs: cores.allMs - this.#cores.allMs,
      ownCpuMs: processes.own.cpuMs,
      lagMs: Math.max(0, this.#lag.percentile(99) / NANOSECONDS_PER_MS - LAG_STEP_MS),
      pageOuts: moved.pageOuts - this.#moved.pageOuts,
      migrationBytes: moved.migrationBytes - this.#moved.migrationBytes,
      devices,
      probes: this.#probes.cut(),
    };
    this.#since = mergeSpans(this.#since, span);
    if (this.#live.isOn) this.#sinceLive = mergeSpans(this.#sinceLive, span);
    this.#lag.reset();
    [this.#cutAtMs, this.#cores, this.#moved] = [nowMs, cores, moved];
  }

  #readNow(processes: ProcessUses, sensors: Sensor[]): HealthNow {
    const { fleet, models } = this.#parts;
    return {
      at: new Date().toISOString(),
      startedAt: new Date(performance.timeOrigin).toISOString(),
      sensors,
      host: {
        logicalCores: this.#cores.count,
        loadAverage: loadavg()[0] ?? 0,
        freeBytes: freemem(),
        memoryBytes: totalmem(),
        ownRssBytes: processes.own.rssBytes,
      },
      devices: fleet.all().map(({ host, server }) => ({
        deviceKey: host.device.key,
        waiting: server.waiting,
        computing: server.computing,
        restarts: host.restarts,
        processRssBytes: useOf(processes, host.pid).rssBytes,
        kernels: this.#kernels.get(host.device.key) ?? null,
      })),
      placements: this.#placements.all().map(([key, { model, variant, deviceKey, backend }]) => {
        const served = { modelVersionId: model.modelVersionId, variant };
        const configuration = models.configurationOf(served, fleet.find(deviceKey).host);
        return [key, { ...served, deviceKey, backend, configuration }];
      }),
    };
  }
}

/** Time of all cores since the machine's start; waiting for a disk counts as neither busy nor total. */
function readCores(): { count: number; busyMs: number; allMs: number } {
  const all = cpus();
  const sum = { count: all.length, busyMs: 0, allMs: 0 };
  for (const { times } of all) {
    const busyMs = times.user + times.nice + times.sys + times.irq;
    sum.busyMs += busyMs;
    sum.allMs += busyMs + times.idle;
  }
  return sum;
}

function useOf({ byPid }: ProcessUses, pid: number | null) {
  return (pid === null ? undefined : byPid.get(pid)) ?? { cpuMs: null, rssBytes: null };
}
