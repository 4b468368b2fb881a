import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { writeOnnxMlp } from "../../models/onnx-mlp-writer.ts";
import { DeviceFleet } from "../../src/gpu-runner/serving/device-fleet.ts";
import { FailureFile } from "../../src/gpu-runner/device-host/failure-file.ts";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { readSensors } from "../../src/gpu-runner/host/sensors/read-sensors.ts";
import { ModelLoader } from "../../src/gpu-runner/serving/model-loader.ts";
import { parseProcessTimes } from "../../src/gpu-runner/host/process-meter.ts";
import { Watch } from "../../src/gpu-runner/watch/watch.ts";
import { HealthReport } from "../../src/protocol/fleet/health.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import type { PlacedModel, RunnerMessage } from "../../src/protocol/link.ts";
import { DEFAULT_CONFIGURATION } from "../../src/protocol/fleet/serving.ts";
import { hogCpu } from "../plants/hog-cpu.ts";
import { plantSleep, type PlantedSleep } from "../plants/plant-sleep.ts";
import { childPids } from "./child-pids.ts";

/** The watch over a real device's process, which can be made to sleep. */

const WATCH_MS = 500;
const BOUND = { timeout: 120_000, interval: 10 };
const logger = pino({ level: "silent" });
const layer = { inputs: 2, outputs: 2, weights: Float32Array.of(1, 2, 3, 4), bias: Float32Array.of(0, 0) };
const placed: PlacedModel = {
  modelVersionId: createId("modelVersion"),
  variants: [{ name: "fp32", digest: "sha256:dense" }],
  inputs: [{ name: "x", dtype: "float32", shape: [-1, 2] }],
  outputs: [{ name: "y", dtype: "float32", shape: [-1, 2] }],
  places: [{ deviceKey: "cpu", variant: "fp32" }],
};
const reports: HealthReport[] = [];
let folder = "";
let sleep: PlantedSleep;
let host: DeviceHost;
let watch: Watch;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "millrace-watch-"));
  sleep = plantSleep(folder);
  const file = path.join(folder, "dense.onnx");
  await writeFile(file, writeOnnxMlp({ name: "dense", input: "x", output: "y", layers: [layer] }));
  const { environment } = sleep;
  host = await DeviceHost.start({ role: "cpu", deviceKey: "cpu", cacheDir: folder, environment, logger });
  const fleet = new DeviceFleet([host], new FailureFile(folder, logger));
  const residency = {
    keep: () => {},
    read: () => readFile(file),
    counters: () => ({ pageOuts: 0, migrationBytes: 0 }),
  };
  const models = new ModelLoader(residency, logger);
  await models.borrow(placed, "fp32", host, DEFAULT_CONFIGURATION);
  const send = (message: RunnerMessage) => {
    if (message.type === "health") reports.push(HealthReport.parse(message.report));
    return true;
  };
  watch = new Watch({ fleet, models, residency, channel: { send }, readSensors, logger });
  watch.start(WATCH_MS, [placed]);
});
afterAll(async () => {
  watch.stop();
  await host.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The first report from now on that is as it should be. */
async function nextReport(isWanted: (report: HealthReport) => boolean = () => true): Promise<HealthReport> {
  reports.length = 0;
  return vi.waitFor(() => reports.find(isWanted) ?? Promise.reject(new Error(JSON.stringify(reports.at(-1)))), BOUND);
}

const p50Of = ({ placements }: HealthReport) => placements[0]?.serviceMs?.p50 ?? Number.NaN;

/**
 * CPU time of our processes and of others, in milliseconds, over all reports since `reports` was emptied, and two more:
 * the next one may have been begun, the second covers everything until now.
 */
async function cpuMsUntilNow() {
  const already = reports.length;
  await vi.waitFor(() => expect(reports.length).toBeGreaterThanOrEqual(already + 2), BOUND);
  const sum = { own: 0, others: 0 };
  for (const { spanMs, host: machine } of reports) {
    const allMs = spanMs * machine.logicalCores;
    sum.own += machine.ownShare! * allMs;
    sum.others += (machine.busyShare - machine.ownShare!) * allMs;
  }
  return sum;
}

describe("processes", () => {
  test("are reported with their memory and their share of the CPU", async () => {
    const { host: machine, devices } = await nextReport((report) => p50Of(report) > 0);
    const [cpu] = devices;
    expect(cpu?.processRssBytes).toBeGreaterThan(10 * 2 ** 20);
    expect(cpu?.processCpuShare).toBeGreaterThanOrEqual(0);
    expect(machine.ownRssBytes).toBeGreaterThan(cpu!.processRssBytes!);
    expect(machine.busyShare).toBeGreaterThanOrEqual(machine.ownShare! * 0.8);
  });

  test("that are our own count as our own", async () => {
    await nextReport();
    reports.length = 0;
    const before = process.cpuUsage();
    while (process.cpuUsage(before).user < 300_000);
    const { own } = await cpuMsUntilNow();
    expect(own).toBeGreaterThan(250);
  });

  test("of others show as such: a hog is none of ours", async () => {
    const hogs = hogCpu();
    try {
      const cpuMs = async () => {
        const stats = (await childPids(hogs.pid)).map((pid) => readFile(`/proc/${pid}/stat`, "utf8"));
        return (await Promise.all(stats)).reduce((sum, stat) => sum + parseProcessTimes(stat)!.cpuMs, 0);
      };
      await nextReport();
      reports.length = 0;
      const beforeMs = await cpuMs();
      await vi.waitFor(() => expect(reports).not.toHaveLength(0), BOUND);
      const spentMs = (await cpuMs()) - beforeMs;
      expect(spentMs).toBeGreaterThan(0);
      // The reports cover somewhat more.
      const { others } = await cpuMsUntilNow();
      expect(others).toBeGreaterThan(0.6 * spentMs);
    } finally {
      await hogs.stop();
    }
  });

  test("that died are counted", async () => {
    const { restarts } = host;
    process.kill(host.pid!, "SIGKILL");
    const { devices } = await nextReport((report) => report.devices[0]!.restarts > restarts);
    expect(devices[0]?.restarts).toBe(restarts + 1);
    await nextReport((report) => p50Of(report) > 0);
  });
});

test("a backend that sleeps shows in what probes take, and not once it is awake", async () => {
  const sleepMs = 100;
  const awake = await nextReport((report) => p50Of(report) < sleepMs);
  expect(awake.placements[0]?.errors).toBe(0);
  await sleep.sleepMs(sleepMs);
  // A probe may take long by itself; all of one that sleeps is told as computing.
  const computeMsOf = ({ placements: [placement] }: HealthReport) => placement?.computeMs?.p50 ?? 0;
  await nextReport((report) => Math.min(p50Of(report), computeMsOf(report)) >= sleepMs);
  await sleep.sleepMs(0);
  await nextReport((report) => p50Of(report) < sleepMs);
});
