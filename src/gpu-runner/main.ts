import { join } from "node:path";
import { destination, type Logger, pino } from "pino";
import { z } from "zod";
import { ENVIRONMENTS } from "../../kernels/environments/registry.ts";
import { type Fault, sentenceOf } from "../checkup/fault.ts";
import { useProxies } from "../checkup/proxy.ts";
import type { Capabilities } from "../protocol/fleet/hardware.ts";
import type { Lease } from "../protocol/link.ts";
import { type ProblemCode, ProblemError, PROBLEMS } from "../protocol/wire/problem.ts";
import { VERSION } from "../protocol/wire/release.ts";
import { readConfig, type RunnerConfig } from "./config.ts";
import { takeFolder } from "./host/own-folder.ts";
import { collectRarely } from "./host/own-process.ts";
import { tellGpuFaults, tellHostFaults } from "./host/tell-host-faults.ts";
import { Troubles } from "./host/troubles.ts";
import { askForLink, keepConnected } from "./link/connection.ts";
import { findCredential } from "./link/find-credential.ts";
import { unregisterRunner } from "./link/unregister-runner.ts";
import { DeviceFleet } from "./serving/device-fleet.ts";
import { DirectListener } from "./serving/direct/direct-listener.ts";
import { OutcomeReport } from "./link/outcome-report.ts";
import { TicketKeys } from "./serving/direct/tickets.ts";
import { createEdgeProbe } from "./link/edge-probe.ts";
import { createEdgeSource, createFileSource, openJobArtifacts } from "./link/artifacts.ts";
import { LinkChannel, LinkProbe } from "./link/link-channel.ts";
import { DiskStore } from "./memory/disk-store.ts";
import { ResidencyManager } from "./memory/residency-manager.ts";
import { RooflineStore } from "./memory/roofline-store.ts";
import { LayoutStore } from "./memory/layout-store.ts";
import { createTuningSource, TuningCache } from "./memory/tuning-cache.ts";
import { readHardware } from "./host/hardware/read-hardware.ts";
import { announceEnvironments } from "./environments/announce-environments.ts";
import { BackendChoices } from "./kinds/steps/choose-backend.ts";
import { ModelLoader } from "./serving/model-loader.ts";
import { noteBoards } from "./host/sensors/gpu-board.ts";
import { readBoards, readSensors } from "./host/sensors/read-sensors.ts";
import { Session } from "./session.ts";
import { listenForScrapes, RunnerMetrics } from "./watch/runner-metrics.ts";
import { SpanExport } from "./host/span-export.ts";
import { Watch } from "./watch/watch.ts";
import { type EdgePlace, openEdgeSystem } from "./kinds/validation/open-edge-system.ts";
import { JobRunner } from "./job-runner.ts";

/** The runner: registers once, then serves its edge until it is stopped, or has done its work. */
async function run(config: RunnerConfig, logger: Logger, troubles: Troubles): Promise<void> {
  const stopping = new AbortController();
  /** Finishes work before the stop, once there is any. */
  let finish: () => Promise<void> = async () => undefined;
  let isTold = false;
  const stop = () => {
    // A second signal stops at once.
    if (isTold) return stopping.abort();
    isTold = true;
    void finish().finally(() => stopping.abort());
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  process.once("disconnect", () => stopping.abort());
  const unusable = useProxies(process.env);
  if (unusable !== null) troubles.tell(unusable);
  await takeFolder(config.dataDir, troubles);
  await tellHostFaults(troubles, config);
  const credential = await findCredential(config, troubles);
  // Before devices start, which takes seconds: what stands in the way is in the log by then.
  const [fleet, hardware] = await Promise.all([
    DeviceFleet.start(config, logger, troubles),
    readHardware(),
    askForLink(credential, troubles),
  ]);
  await tellGpuFaults(troubles, config, fleet.devices);
  const channel = new LinkChannel();
  const rooflines = new RooflineStore(config.dataDir, ({ key, roofline }) => {
    if (roofline !== null) channel.send({ type: "deviceRoofline", deviceKey: key, roofline });
  });
  // The hosts' own records: those of the fleet may be copies.
  const owned = fleet.all().map(({ host }) => host.device);
  for (const device of owned) await rooflines.recall(device, Date.now());
  noteBoards(owned, await readBoards(owned));
  const environments = await announceEnvironments(ENVIRONMENTS);
  const capabilities = (): Capabilities => {
    const { devices, kernels, jobSlots } = fleet;
    const userKernels = config.userKernels && kernels.length > 0;
    const direct = listener === null ? {} : { direct: { url: listener.url } };
    const takes = { userKernels, sharesJobs: true };
    return { version: VERSION, hardware, devices, kernels, environments, jobSlots, ...takes, ...direct };
  };
  const probe = new LinkProbe(channel);
  const residency = await ResidencyManager.open({
    budgets: config.memory,
    store: new DiskStore(join(config.dataDir, "artifacts")),
    source: createEdgeSource(credential),
    fileSource: createFileSource(credential),
    devices: fleet.all().map(({ host }) => host),
    logger,
  });
  const tunings = await TuningCache.open({
    dataDir: config.dataDir,
    fingerprints: owned.map(({ fingerprint }) => fingerprint),
    source: createTuningSource(credential),
    logger,
  });
  const models = new ModelLoader(residency, logger, await LayoutStore.open(config.dataDir, logger));
  const { userKernels } = config;
  const edgeProbe = createEdgeProbe(credential);
  const openEdge = (place: EdgePlace) => openEdgeSystem(credential, place);
  const openArtifacts = (lease: Lease, signal: AbortSignal) => openJobArtifacts(credential, lease, signal);
  const watch = new Watch({ fleet, models, residency, channel, readSensors, logger });
  const spans = new SpanExport(config.tracing, credential.runnerId);
  const shared = {
    hardware,
    fleet,
    models,
    probe,
    edgeProbe,
    openEdge,
    openArtifacts,
    residency,
    rooflines,
    tunings,
    backends: new BackendChoices(fleet),
    userKernels,
    watch,
    spans,
  };
  const jobs = new JobRunner(shared, channel, logger);
  const ticketKeys = new TicketKeys();
  const outcomes = new OutcomeReport(channel);
  const { runnerId } = credential;
  const listener =
    config.direct === null
      ? null
      : await DirectListener.open(config.direct, {
          runnerId,
          keys: ticketKeys,
          fleet,
          models,
          outcomes,
          spans,
          logger,
        });
  const { ephemeral } = config;
  /** Ends an ephemeral runner, once what it works on is done. */
  const end = () => void session.finish(Number.POSITIVE_INFINITY).finally(() => stopping.abort());
  const session = new Session({
    capabilities,
    fleet,
    models,
    residency,
    probe,
    jobs,
    channel,
    outcomes,
    ticketKeys,
    spans,
    watch,
    onOnlyJob: ephemeral?.durationMs === null ? end : null,
    logger,
  });
  const metrics =
    config.metrics === null
      ? null
      : await listenForScrapes(
          config.metrics,
          new RunnerMetrics({ runnerId, fleet, residency, jobs, watch, spans }),
          logger,
        );
  fleet.onChange(() => session.capabilitiesChanged());
  finish = () => session.finish(config.stopGraceMs);
  if (ephemeral !== null && ephemeral.durationMs !== null) setTimeout(end, ephemeral.durationMs);
  try {
    await keepConnected(credential, session, stopping.signal, { logger, troubles });
  } finally {
    await Promise.all([listener?.stop(), metrics?.stop(), spans.stop(), residency.stop(), fleet.stop()]);
  }
  if (ephemeral !== null) await unregisterRunner(credential, logger);
}

const NEW_TOKEN = "Have a new one made: the page's Runners, or `POST /v1/runners/tokens`.";
/** Advice on the edge's problems whose own words have none. */
const ADVICE: Partial<Record<ProblemCode, string>> = {
  unauthorized: "Have a registration token made at that edge: the page's Runners, or `POST /v1/runners/tokens`.",
  "token-expired": NEW_TOKEN,
  "token-used": NEW_TOKEN,
};

/** The reason why the runner ends, in words for those who can correct it. */
function explain(error: unknown): Fault {
  if (error instanceof ProblemError) {
    const { code, title, detail } = error.problem;
    return { cause: code, found: `${title}: ${detail.replace(/\.$/, "")}`, advice: ADVICE[code] ?? "" };
  }
  if (error instanceof z.ZodError) return { cause: "setting", found: z.prettifyError(error), advice: "" };
  const { cause, message } = error instanceof Error ? error : new Error(String(error));
  if (typeof cause === "object" && cause !== null && "found" in cause) return cause as Fault;
  return { cause: "internal", found: message, advice: "" };
}

async function main(): Promise<void> {
  collectRarely();
  const config = readConfig(process.env);
  const logger = pino({ level: config.logLevel, name: "runner" }, destination({ dest: 2, sync: true }));
  const troubles = new Troubles(logger);
  try {
    await run(config, logger, troubles);
  } catch (error) {
    await troubles.last(explain(error));
    throw error;
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`millrace runner: ${sentenceOf(explain(error)).trim()}\n`);
    process.exit(error instanceof ProblemError ? PROBLEMS[error.problem.code].exitCode : 1);
  },
);
