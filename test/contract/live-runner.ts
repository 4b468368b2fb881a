import { pino } from "pino";
import { keepConnected } from "../../src/gpu-runner/link/connection.ts";
import type { DeviceFleet } from "../../src/gpu-runner/serving/device-fleet.ts";
import { OutcomeReport } from "../../src/gpu-runner/link/outcome-report.ts";
import { TicketKeys } from "../../src/gpu-runner/serving/direct/tickets.ts";
import { LinkChannel, LinkProbe } from "../../src/gpu-runner/link/link-channel.ts";
import type { RooflineStore } from "../../src/gpu-runner/memory/roofline-store.ts";
import type { TuningCache } from "../../src/gpu-runner/memory/tuning-cache.ts";
import { type InferenceBackend, InferenceServer } from "../../src/gpu-runner/serving/queue/inference-server.ts";
import { BackendChoices } from "../../src/gpu-runner/kinds/steps/choose-backend.ts";
import { ModelLoader } from "../../src/gpu-runner/serving/model-loader.ts";
import { Session } from "../../src/gpu-runner/session.ts";
import { SpanExport } from "../../src/gpu-runner/host/span-export.ts";
import { Troubles } from "../../src/gpu-runner/host/troubles.ts";
import { Watch } from "../../src/gpu-runner/watch/watch.ts";
import { JobRunner } from "../../src/gpu-runner/job-runner.ts";
import type { Sensor } from "../../src/protocol/fleet/health.ts";
import { ProblemError } from "../../src/protocol/wire/problem.ts";
import { benchmarkResult, capabilities, memoryReport } from "../edge/stack/samples.ts";
import { createGuarding } from "../unit/gpu-runner/guarding-fleet.ts";

/** A benchmark that the runner has begun; it ends when the test says so. */
export interface StartedBenchmark {
  readonly signal: AbortSignal;
  finish(): void;
}

export interface LiveRunner {
  readonly benchmarks: StartedBenchmark[];
  /** Loaded and freed models, as `<device> <version>/<variant>` with the threads where there are several. */
  readonly warmed: string[];
  readonly freed: string[];
  /** Parts that a listener of its own would share with it. */
  readonly parts: {
    readonly fleet: DeviceFleet;
    readonly models: ModelLoader;
    readonly keys: TicketKeys;
    readonly outcomes: OutcomeReport;
    readonly spans: SpanExport;
  };
  /** Resolves when the runner stops by itself or is stopped; rejects with why it gave up. */
  readonly done: Promise<void>;
  /** Makes the runner offer another number of job slots, and report it. */
  changeSlots(jobSlots: number): void;
  /** As when the process is asked to stop: finishes within the grace, then ends. */
  leave(graceMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** Sensors of the machine's clocks in every report. */
export const sensors: Sensor[] = [
  {
    of: "cpu",
    clockMhz: 2_400,
    maxClockMhz: 3_000,
    temperatureC: 55,
    limitC: 100,
    utilisation: null,
    throttled: null,
    source: "a test",
  },
];

/**
 * The runner's real session, jobs and connection, on simulated devices; `infer` answers their requests. With
 * `onlyOneJob` it ends after its first job.
 */
export function startLiveRunner(
  port: number,
  infer: InferenceBackend["infer"],
  { onlyOneJob = false }: { readonly onlyOneJob?: boolean } = {},
): LiveRunner {
  const benchmarks: StartedBenchmark[] = [];
  const warmed: string[] = [];
  const freed: string[] = [];
  const [cpu, gpu] = capabilities.devices;
  const benchmark = (_spec: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise((resolve, reject) => {
      const { kind: _, environment: __, ...measured } = benchmarkResult();
      signal.addEventListener("abort", () => reject(new ProblemError("cancelled", "aborted")));
      benchmarks.push({
        signal,
        finish: () =>
          resolve({ ...measured, traceText: null, samples: { wallMs: Float64Array.of(1, 2, 3), gpuMs: null } }),
      });
    });
  const createLoad =
    (deviceKey = "") =>
    async ({ modelKey }: { modelKey: string }) => {
      warmed.push(`${deviceKey} ${modelKey}`);
      return { loadMs: 1 };
    };
  const devices = [cpu, gpu].map((device) => ({
    host: {
      device,
      pid: null,
      isDown: false,
      restarts: 0,
      kernelDigests: {},
      benchmark,
      loadModel: createLoad(device?.key),
      unloadModel: async (modelKey: string) => void freed.push(`${device?.key} ${modelKey}`),
      infer,
    },
    server: new InferenceServer({ infer }),
  }));
  const find = (key: string) => {
    const device = devices.find(({ host }) => host.device?.key === key);
    if (device === undefined) throw new ProblemError("backend-failed", `no device ${key}`);
    return device;
  };
  const residency = {
    keep: () => {},
    keepOnly: async () => {},
    read: async () => new Uint8Array(),
    add: async () => {},
    useOnDevice: <Value>(_digest: string, _deviceKey: string, work: () => Promise<Value>) => work(),
    report: async () => memoryReport,
    counters: () => ({ pageOuts: 0, migrationBytes: 0 }),
  };
  const logger = pino({ level: "silent" });
  const models = new ModelLoader(residency, logger);
  const fleet = {
    all: () => devices,
    find,
    cpu: devices[0],
    withKernel: () => devices[1],
    ...createGuarding(),
  } as unknown as DeviceFleet;
  const channel = new LinkChannel();
  const keys = new TicketKeys();
  const outcomes = new OutcomeReport(channel);
  const probe = new LinkProbe(channel);
  const rooflines = { ensure: async () => ({ roofline: null, missing: "not measured" }) } as unknown as RooflineStore;
  const tunings = { find: async () => null } as unknown as TuningCache;
  const openEdge = () => {
    throw new ProblemError("not-found", "This edge computes nothing.");
  };
  const refuse = async () => openEdge();
  const edgeProbe = { run: refuse, measureMs: refuse };
  const watch = new Watch({ fleet, models, residency, channel, readSensors: async () => sensors, logger });
  const spans = new SpanExport(null, "rnr_sample");
  const jobs = new JobRunner(
    {
      hardware: capabilities.hardware,
      fleet,
      models,
      probe,
      edgeProbe,
      openEdge,
      openArtifacts: () => ({ put: refuse, get: refuse }),
      residency,
      rooflines,
      tunings,
      backends: new BackendChoices(fleet),
      userKernels: true,
      watch,
      spans,
    },
    channel,
    logger,
  );
  let { jobSlots } = capabilities;
  const session = new Session({
    capabilities: () => ({ ...capabilities, jobSlots }),
    fleet,
    models,
    residency,
    probe,
    jobs,
    channel,
    outcomes,
    ticketKeys: keys,
    spans,
    watch,
    onOnlyJob: onlyOneJob ? () => void leave(Number.POSITIVE_INFINITY) : null,
    logger,
  });
  const stopping = new AbortController();
  const leave = async (graceMs: number) => {
    await session.finish(graceMs);
    stopping.abort();
    await done.catch(() => undefined);
  };
  const edgeUrl = `http://127.0.0.1:${port}`;
  const credential = {
    edgeUrl,
    linkUrl: `ws://127.0.0.1:${port}/v1/link`,
    runnerId: "rnr_sample",
    credential: "mc_sample",
  };
  const done = keepConnected(credential, session, stopping.signal, { logger, troubles: new Troubles(logger) });
  done.catch(() => undefined);
  return {
    benchmarks,
    warmed,
    freed,
    parts: { fleet, models, keys, outcomes, spans },
    done,
    changeSlots: (slots) => {
      jobSlots = slots;
      session.capabilitiesChanged();
    },
    leave,
    stop: async () => {
      stopping.abort();
      await done.catch(() => undefined);
    },
  };
}
