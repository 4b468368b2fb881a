/** ONNX Runtime's WebGPU provider beside the CPU's, on the software GPU. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { writeOnnxMlp } from "../../models/onnx-mlp-writer.ts";
import { readConfig } from "../../src/gpu-runner/config.ts";
import { DeviceFleet } from "../../src/gpu-runner/serving/device-fleet.ts";
import { writeOnnxGraph } from "../../src/gpu-runner/devices/ort/write-onnx-graph.ts";
import { ModelLoader } from "../../src/gpu-runner/serving/model-loader.ts";
import { startProviders } from "../../src/gpu-runner/providers/start-providers.ts";
import { runCalibration } from "../../src/gpu-runner/kinds/calibration/run-calibration.ts";
import { CalibrationResult, CalibrationSpec } from "../../src/protocol/jobs/calibration.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import type { PlacedModel } from "../../src/protocol/link.ts";
import { DEFAULT_CONFIGURATION } from "../../src/protocol/fleet/serving.ts";
import { problemOf } from "./problem-of.ts";

/** A slow machine needs minutes for a calibration. */
const LONG = { timeoutMs: 600_000 };
const logger = pino({ level: "silent" });
/** Files by digest, as the edge would have them. */
const files = new Map<string, Uint8Array>();
const models = new ModelLoader({ keep: () => {}, read: async (digest) => files.get(digest)! }, logger);

let folder = "";
let fleet: DeviceFleet;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "millrace-ort-webgpu-"));
  const settings = { MILLRACE_RUNNER_DIR: folder, MILLRACE_GPU: "software", MILLRACE_ORT_WEBGPU: "on" };
  fleet = await DeviceFleet.start(readConfig(settings), logger);
});
afterAll(async () => {
  await fleet.stop();
  await rm(folder, { recursive: true });
});

function placed(shapes: Pick<PlacedModel, "inputs" | "outputs">, ...variants: Uint8Array[]): PlacedModel {
  const named = variants.map((file, index) => {
    const digest = createId("request");
    files.set(digest, file);
    return { name: index === 0 ? "fp32" : `variant${index}`, digest };
  });
  return { modelVersionId: createId("modelVersion"), variants: named, ...shapes };
}

const float = (name: string, ...shape: number[]) => ({ name, dtype: "float32" as const, shape });

/** A 3×3 convolution of this many channels; the file is new with every call. */
function convolution(channels: number): PlacedModel {
  const values = Float32Array.from({ length: 4 * channels * 9 }, (_, i) => Math.sin(i));
  const graph = {
    name: "convolution",
    inputs: [{ name: "x", shape: [-1, channels, 6, 6] }],
    outputs: [{ name: "y", shape: [-1, 4, 4, 4] }],
    constants: [{ name: "w", shape: [4, channels, 3, 3], values }],
    nodes: [{ operator: "Conv", inputs: ["x", "w"], output: "y" }],
  };
  const shapes = { inputs: [float("x", -1, channels, 6, 6)], outputs: [float("y", -1, 4, 4, 4)] };
  return placed(shapes, writeOnnxGraph(graph));
}

async function calibrate(model: PlacedModel, changes: object = {}): Promise<CalibrationResult> {
  const { modelVersionId } = model;
  const spec = CalibrationSpec.parse({
    kind: "calibration",
    modelVersionId,
    iterations: 12,
    maxRows: 4,
    ...LONG,
    ...changes,
  });
  const context = {
    fleet,
    models,
    model,
    probe: { measureMs: async () => [0.1] },
    edge: null,
    otherJobs: 0,
    signal: new AbortController().signal,
    onProgress: () => {},
  };
  const { result } = await runCalibration(spec, context as never);
  return CalibrationResult.parse(result);
}

test("it is a device of its own on the GPU that it runs on, with models and without kernels", () => {
  const [gpu, ort] = [fleet.find("gpu0").host, fleet.find("ort-gpu0").host];
  expect(ort.device).toMatchObject({ kind: "gpu", software: true, backends: ["ort-webgpu"], name: gpu.device.name });
  expect(ort.device.fingerprint).toMatchObject({
    adapter: gpu.device.fingerprint.adapter,
    dawn: null,
    ort: expect.stringMatching(/^onnxruntime-node \d/),
  });
  expect(ort.pid).not.toBe(gpu.pid);
  expect(fleet.jobSlots).toBe(1);
  expect(fleet.kernels).not.toHaveLength(0);
  expect(ort.kernels).toEqual([]);
});

test("a model is proved and measured on both providers, in batches", async () => {
  const model = convolution(32);
  const { placements, skipped } = await calibrate(model);
  expect(skipped).toBeUndefined();
  expect(placements.map(({ deviceKey, backend, agrees }) => [deviceKey, backend, agrees])).toEqual([
    ["cpu", "ort-cpu", true],
    ["ort-gpu0", "ort-webgpu", true],
  ]);
  expect(placements[1]?.nodes).toEqual({ onProvider: expect.any(Number), onCpu: {} });
  expect(placements[1]?.nodes?.onProvider).toBeGreaterThan(0);
  for (const { sweep, memory, fidelity, loadMs } of placements) {
    expect(sweep[0]).toMatchObject({ rows: 1, serviceMs: { count: 12 } });
    // A size that gained nothing on a loaded machine is left out.
    const sizes = sweep.map(({ rows }) => rows);
    expect(sizes).toEqual([1, 2, 4].filter((rows) => sizes.includes(rows)));
    expect(memory?.baseBytes).toBeGreaterThan(0);
    expect(memory?.bytesPerRow).toBeGreaterThanOrEqual(0);
    expect(fidelity).toBe(1);
    expect(loadMs).toBeGreaterThan(0);
  }
});

// LeNet-5 has a convolution of 6.
test.each([6, 33, 129])("its wrong convolution of %i channels is reported, and not kept loaded", async (channels) => {
  const model = convolution(channels);
  const { placements } = await calibrate(model);
  const [cpu, ort] = placements;
  expect(cpu).toMatchObject({ deviceKey: "cpu", agrees: true, maxRelativeError: 0 });
  expect(ort).toMatchObject({ deviceKey: "ort-gpu0", agrees: false, memory: null, sweep: [{ rows: 1 }] });
  expect(ort?.maxRelativeError).toBeGreaterThan(0.01);
  const asked = fleet.find("ort-gpu0").host.infer(`${model.modelVersionId}/fp32`, [], { requestId: "req_1" });
  expect((await problemOf(asked)).code).toBe("not-found");
});

test("a variant has the fidelity of its own answers, and one that cannot be loaded is left out", async () => {
  const mlp = (weights: number[]) =>
    writeOnnxMlp({
      name: "linear",
      input: "x",
      output: "y",
      layers: [{ inputs: 2, outputs: 2, weights: Float32Array.from(weights), bias: Float32Array.of(0, 0) }],
    });
  const shapes = { inputs: [float("x", -1, 2)], outputs: [float("y", -1, 2)] };
  // The second file gives the outputs of the first in the other order.
  const model = placed(shapes, mlp([1, 0, 0, 1]), mlp([0, 1, 1, 0]), new TextEncoder().encode("no model"));
  const { placements, skipped } = await calibrate(model);
  const found = placements.map(({ deviceKey, variant, agrees, fidelity }) => [deviceKey, variant, agrees, fidelity]);
  expect(found).toEqual([
    ["cpu", "fp32", true, 1],
    ["ort-gpu0", "fp32", true, 1],
    ["cpu", "variant1", true, 0],
    ["ort-gpu0", "variant1", true, 0],
  ]);
  expect(skipped?.map(({ deviceKey, variant, problem }) => [deviceKey, variant, problem.code])).toEqual([
    ["cpu", "variant2", "invalid-model"],
    ["ort-gpu0", "variant2", "invalid-model"],
  ]);
});

test("a model whose rows are not independent is measured alone", async () => {
  const graph = {
    name: "mixing",
    inputs: [{ name: "x", shape: [-1, 4] }],
    outputs: [{ name: "y", shape: [-1, 4] }],
    // The largest of a column, over all rows.
    nodes: [
      { operator: "ReduceMax", inputs: ["x"], output: "m", attributes: { axes: [0] } },
      { operator: "Sub", inputs: ["x", "m"], output: "y" },
    ],
  };
  const model = placed({ inputs: [float("x", -1, 4)], outputs: [float("y", -1, 4)] }, writeOnnxGraph(graph));
  const [cpu] = (await calibrate(model)).placements;
  expect(cpu).toMatchObject({ agrees: true, sweep: [{ rows: 1 }] });
  expect(cpu?.sweep).toHaveLength(1);
});

test("a model whose rows are fixed is measured as it is", async () => {
  const graph = {
    name: "fixed",
    inputs: [{ name: "x", shape: [2, 3] }],
    outputs: [{ name: "y", shape: [2, 3] }],
    nodes: [{ operator: "Neg", inputs: ["x"], output: "y" }],
  };
  const model = placed({ inputs: [float("x", 2, 3)], outputs: [float("y", 2, 3)] }, writeOnnxGraph(graph));
  for (const { agrees, sweep } of (await calibrate(model)).placements) {
    expect([agrees, sweep.map(({ rows }) => rows)]).toEqual([true, [1]]);
  }
});

test("a process that dies comes back with its models", async () => {
  const model = convolution(8);
  const { host } = fleet.find("ort-gpu0");
  await models.borrow(model, "fp32", host, DEFAULT_CONFIGURATION);
  const { restarts } = host;
  process.kill(host.pid!, "SIGKILL");
  await vi.waitFor(() => expect(host).toMatchObject({ restarts: restarts + 1, isDown: false }), 120_000);
  const bytes = new Uint8Array(8 * 36 * 4);
  const x = { name: "x", dtype: "float32" as const, shape: [1, 8, 6, 6], bytes };
  const { tensors } = await host.infer(`${model.modelVersionId}/fp32`, [x], { requestId: "req_2" });
  expect(tensors[0]?.shape).toEqual([1, 4, 4, 4]);
});

test("it runs no kernels", async () => {
  const work = fleet.find("ort-gpu0").host.work("tune", { spec: { kernel: "gemm" } as never }, 60_000);
  expect((await problemOf(work)).code).toBe("unknown-kernel");
});

test("it is not started on a software GPU by itself, nor where it is off, nor without its driver", async () => {
  const gpu = fleet.find("gpu0").host;
  const start = async (use: string, gpus: Parameters<typeof startProviders>[1]) => {
    const { hosts, absent } = await startProviders(readConfig({ MILLRACE_ORT_WEBGPU: use }), gpus, {
      cacheDir: folder,
      logger,
    });
    expect(hosts).toEqual([]);
    return absent.find(({ backend }) => backend === "ort-webgpu")?.reason;
  };
  expect(await start("auto", [gpu])).toContain("no emulated GPU");
  expect(await start("off", [gpu])).toBe("it is off");
  expect(await start("on", [])).toBe("there is no GPU");
  const { device, adapters } = gpu;
  const nowhere = { VK_DRIVER_FILES: path.join(folder, "none.json"), VK_ICD_FILENAMES: path.join(folder, "none.json") };
  expect(await start("on", [{ device, adapters, environment: nowhere }])).toContain("The provider does not work");
  const other = { device, adapters: ["Another Card"], environment: nowhere };
  expect(await start("on", [other])).toContain("best adapter, which the runner did not open");
});
