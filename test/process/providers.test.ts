/** ONNX Runtime's CUDA provider as a device, with a planted one in its process: no card is needed. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { readConfig } from "../../src/gpu-runner/config.ts";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { FailureFile } from "../../src/gpu-runner/device-host/failure-file.ts";
import { writeOnnxGraph } from "../../src/gpu-runner/devices/ort/write-onnx-graph.ts";
import { runCalibration } from "../../src/gpu-runner/kinds/calibration/run-calibration.ts";
import { type InstalledProvider, locateBinding } from "../../src/gpu-runner/providers/installed-provider.ts";
import { startProviders } from "../../src/gpu-runner/providers/start-providers.ts";
import { DeviceFleet } from "../../src/gpu-runner/serving/device-fleet.ts";
import { ModelLoader } from "../../src/gpu-runner/serving/model-loader.ts";
import { DEFAULT_CONFIGURATION } from "../../src/protocol/fleet/serving.ts";
import { CalibrationResult, CalibrationSpec } from "../../src/protocol/jobs/calibration.ts";
import type { PlacedModel } from "../../src/protocol/link.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import type { PlantedBehaviour } from "../plants/planted-provider.ts";
import { problemOf } from "./problem-of.ts";

/** Long enough for a load on a busy machine. */
const RUN_LIMIT_MS = 30_000;
const logger = pino({ level: "silent" });
const files = new Map<string, Uint8Array>();
const models = new ModelLoader({ keep: () => {}, read: async (digest) => files.get(digest)! }, logger);

let folder = "";
let behaviourFile = "";
let fleet: DeviceFleet;

/** A provider's folder with nothing but its record. */
async function plantInstalled(dataDir: string, changes: Partial<InstalledProvider> = {}) {
  const { version } = await locateBinding();
  const installed: InstalledProvider = { ort: version, cuda: 13, files: {}, libraries: [], from: "a test", ...changes };
  await mkdir(path.join(dataDir, "providers/ort-cuda"), { recursive: true });
  await writeFile(path.join(dataDir, "providers/ort-cuda/installed.json"), JSON.stringify(installed));
}

const behave = (behaviour: PlantedBehaviour) => writeFile(behaviourFile, behaviour);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "millrace-providers-"));
  behaviourFile = path.join(folder, "behaviour");
  await behave("right");
  await plantInstalled(folder);
  vi.stubEnv("NODE_OPTIONS", `--import ${new URL("../plants/planted-provider.ts", import.meta.url).href}`);
  vi.stubEnv("PLANTED_PROVIDER_FILE", behaviourFile);
  vi.stubEnv("CUDA_VISIBLE_DEVICES", undefined);
  const shared = { cacheDir: folder, logger };
  const [cpu, { hosts }] = await Promise.all([
    DeviceHost.start({ role: "cpu", deviceKey: "cpu", ...shared }),
    startProviders(readConfig({}), [], { ...shared, runLimitMs: RUN_LIMIT_MS }),
  ]);
  fleet = new DeviceFleet([cpu, ...hosts.slice(0, 1)], new FailureFile(folder, logger));
});
afterAll(async () => {
  await fleet.stop();
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

/** A dense layer and a softmax; the file is new with every call. */
function network(): PlacedModel {
  const digest = createId("request");
  const values = Float32Array.from({ length: 12 }, (_, i) => Math.sin(i));
  const graph = {
    name: "dense",
    inputs: [{ name: "x", shape: [-1, 4] }],
    outputs: [{ name: "y", shape: [-1, 3] }],
    constants: [{ name: "w", shape: [4, 3], values }],
    nodes: [
      { operator: "MatMul", inputs: ["x", "w"], output: "h" },
      { operator: "Softmax", inputs: ["h"], output: "y" },
    ],
  };
  files.set(digest, writeOnnxGraph(graph));
  const float = (name: string, size: number) => ({ name, dtype: "float32" as const, shape: [-1, size] });
  const variants = [{ name: "fp32", digest }];
  return { modelVersionId: createId("modelVersion"), variants, inputs: [float("x", 4)], outputs: [float("y", 3)] };
}

async function calibrate(model: PlacedModel): Promise<CalibrationResult> {
  const { modelVersionId } = model;
  const spec = CalibrationSpec.parse({
    kind: "calibration",
    modelVersionId,
    iterations: 12,
    maxRows: 2,
    timeoutMs: 250_000,
  });
  const probe = { measureMs: async () => [0.1] };
  const { signal } = new AbortController();
  const context = { fleet, models, model, probe, edge: null, otherJobs: 0, signal, onProgress: () => {} };
  return CalibrationResult.parse((await runCalibration(spec, context as never)).result);
}

/** What a calibration says of the planted provider, beside the CPU's placement, which must be there every time. */
async function certify(behaviour: PlantedBehaviour) {
  await behave(behaviour);
  const { placements, skipped = [] } = await calibrate(network());
  expect(placements[0]).toMatchObject({ backend: "ort-cpu", agrees: true });
  expect(placements[0]).not.toHaveProperty("nodes");
  return { placement: placements[1], skipped: skipped.map(({ backend, problem }) => [backend, problem.detail]) };
}

test("it is a device of its own, whose fingerprint tells CUDA and TF32", () => {
  const { device } = fleet.find("cuda0").host;
  expect(device).toMatchObject({ kind: "gpu", software: false, backends: ["ort-cuda"] });
  expect(device.fingerprint).toMatchObject({ toggles: ["cuda=13", "tf32=off"], dawn: null });
  expect(fleet.find("cuda0").host.environment).toMatchObject({
    CUDA_DEVICE_ORDER: "PCI_BUS_ID",
    NVIDIA_TF32_OVERRIDE: "0",
  });
});

test("one that is right is certified: nodes, answers, times", async () => {
  const { placement, skipped } = await certify("right");
  expect(skipped).toEqual([]);
  expect(placement).toMatchObject({
    deviceKey: "cuda0",
    backend: "ort-cuda",
    agrees: true,
    nodes: { onProvider: 2, onCpu: {} },
  });
  expect(placement?.sweep[0]).toMatchObject({ rows: 1, serviceMs: { count: 12, p99: expect.any(Number) } });
});

test("nodes that it leaves to the CPU are named", async () => {
  const { placement } = await certify("partial");
  expect(placement).toMatchObject({ agrees: true, nodes: { onProvider: 1, onCpu: { Softmax: 1 } } });
});

test("one that falls back in silence is refused", async () => {
  const { placement, skipped } = await certify("fallback");
  expect(placement).toBeUndefined();
  const detail = "ONNX Runtime fell back to the CPU: ort-cuda ran no node of the network, the CPU 1 MatMul, 1 Softmax.";
  expect(skipped).toEqual([["ort-cuda", detail]]);
});

test("one that answers wrongly is never served", async () => {
  const { placement } = await certify("wrong");
  expect(placement).toMatchObject({ backend: "ort-cuda", agrees: false, memory: null });
  expect(placement?.maxRelativeError).toBeGreaterThan(0.01);
});

test("one that crashes does so away from what serves", async () => {
  const { pid } = fleet.find("cuda0").host;
  expect(await certify("crash")).toEqual({
    placement: undefined,
    skipped: [["ort-cuda", expect.stringContaining("SIGABRT")]],
  });
  expect(fleet.find("cuda0").host.pid).toBe(pid);
});

test("one that hangs is ended in time, away from what serves", async () => {
  const { pid } = fleet.find("cuda0").host;
  expect(await certify("hang")).toEqual({
    placement: undefined,
    skipped: [["ort-cuda", `The model took more than ${RUN_LIMIT_MS} ms to be loaded and to answer one row.`]],
  });
  expect(fleet.find("cuda0").host.pid).toBe(pid);
});

test("a crash or a hang while it serves ends its process, which comes back; the third locks the model out", async () => {
  await behave("right");
  const model = network();
  const { host } = fleet.find("cuda0");
  await models.borrow(model, "fp32", host, DEFAULT_CONFIGURATION);
  const x = { name: "x", dtype: "float32" as const, shape: [1, 4], bytes: new Uint8Array(16) };
  const ask = () => host.infer(`${model.modelVersionId}/fp32`, [x], { requestId: "req_1" });
  for (const [behaviour, code] of [
    ["crash", "device-lost"],
    ["hang", "backend-failed"],
    ["crash", "device-lost"],
  ] as const) {
    const { restarts } = host;
    await behave(behaviour);
    expect((await problemOf(ask())).code).toBe(code);
    await behave("right");
    await vi.waitFor(() => expect(host).toMatchObject({ restarts: restarts + 1, isDown: false }), 120_000);
  }
  expect((await problemOf(ask())).code).toBe("model-quarantined");
});

test("libraries that the machine lacks are named part by part, with what to do", async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), "millrace-providers-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const start = (settings = {}) => startProviders(readConfig(settings), [], { cacheDir: dataDir, logger });
  const reasonOf = ({ absent }: Awaited<ReturnType<typeof start>>) =>
    absent.find(({ backend }) => backend === "ort-cuda");
  expect(reasonOf(await start())?.reason).toContain("millrace runner providers install cuda");
  await plantInstalled(dataDir, { ort: "1.0.0" });
  const warn = vi.spyOn(logger, "warn");
  expect(reasonOf(await start())).toMatchObject({ isMissed: true, problem: null });
  const stale = { backend: "ort-cuda", reason: expect.stringContaining("its libraries are of ONNX Runtime 1.0.0") };
  expect(warn).toHaveBeenCalledExactlyOnceWith(stale, expect.any(String));
  // A folder that cannot be written to ends no runner's start.
  await plantInstalled(dataDir);
  await mkdir(path.join(dataDir, "providers/ort-cuda/libonnxruntime.so.1"));
  expect(reasonOf(await start())).toMatchObject({ isMissed: true, reason: expect.stringContaining("libonnxruntime") });
  await rm(path.join(dataDir, "providers/ort-cuda/libonnxruntime.so.1"), { recursive: true });
  await plantInstalled(dataDir, { libraries: ["libcublas.so.99", "libcudart.so.99", "libcudnn.so.99", "libc.so.6"] });
  expect(reasonOf(await start({ MILLRACE_ORT_CUDA: "off" }))?.reason).toBe("it is off");
  const missing = reasonOf(await start());
  expect(missing?.reason).toBe(
    "The loader does not find the CUDA runtime (libcublas.so.99, libcudart.so.99); cuDNN (libcudnn.so.99)",
  );
  expect(missing?.problem?.errors?.map(({ message }) => message)).toEqual([
    expect.stringContaining("Install CUDA's libraries"),
    expect.stringContaining("Install cuDNN 9"),
  ]);
});
