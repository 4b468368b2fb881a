/** Models by kernels of our own beside the CPU provider, on the software GPU. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readConfig } from "../../src/gpu-runner/config.ts";
import { DeviceFleet } from "../../src/gpu-runner/serving/device-fleet.ts";
import { ModelLoader } from "../../src/gpu-runner/serving/model-loader.ts";
import { runCalibration } from "../../src/gpu-runner/kinds/calibration/run-calibration.ts";
import { CalibrationResult, CalibrationSpec } from "../../src/protocol/jobs/calibration.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import type { PlacedModel } from "../../src/protocol/link.ts";
import { modelBackendOf } from "../../src/protocol/fleet/hardware.ts";
import { problemOf } from "./problem-of.ts";

const TIMEOUT_MS = 900_000;
const logger = pino({ level: "silent" });
const file = await readFile(new URL("../../models/cartpole/cartpole.onnx", import.meta.url));
const models = new ModelLoader({ keep: () => {}, read: async () => file }, logger);

let folder = "";
let fleet: DeviceFleet;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "millrace-wgsl-models-"));
  const settings = { MILLRACE_RUNNER_DIR: folder, MILLRACE_GPU: "software", MILLRACE_WGSL_MODELS: "on" };
  fleet = await DeviceFleet.start(readConfig(settings), logger);
}, TIMEOUT_MS);
afterAll(async () => {
  await fleet.stop();
  await rm(folder, { recursive: true });
});

const policy: PlacedModel = {
  modelVersionId: createId("modelVersion"),
  variants: [{ name: "fp32", digest: createId("request") }],
  inputs: [{ name: "observation", dtype: "float32", shape: [-1, 4] }],
  outputs: [{ name: "logits", dtype: "float32", shape: [-1, 2] }],
};

test("an emulation serves models only if it is configured to", () => {
  expect(modelBackendOf(fleet.find("gpu0").host.device)).toBe("wgsl");
  expect(readConfig({ MILLRACE_RUNNER_DIR: folder }).wgslModels).toBe("auto");
});

test("a model is proved and measured there, in batches", { timeout: TIMEOUT_MS }, async () => {
  const spec = CalibrationSpec.parse({
    kind: "calibration",
    modelVersionId: policy.modelVersionId,
    iterations: 12,
    maxRows: 4,
    timeoutMs: 600_000,
  });
  const context = {
    fleet,
    models,
    model: policy,
    probe: { measureMs: async () => [0.1] },
    edge: null,
    otherJobs: 0,
    signal: new AbortController().signal,
    onProgress: () => {},
  };
  const { placements, skipped } = CalibrationResult.parse((await runCalibration(spec, context as never)).result);
  expect(skipped).toBeUndefined();
  expect(placements.map(({ deviceKey, backend, agrees, fidelity }) => [deviceKey, backend, agrees, fidelity])).toEqual([
    ["cpu", "ort-cpu", true, 1],
    ["gpu0", "wgsl", true, 1],
  ]);
  expect(placements[1]?.memory?.baseBytes).toBeGreaterThan(0);
});

test("it is there again after the process died, and gone once it is unloaded", { timeout: TIMEOUT_MS }, async () => {
  const { host } = fleet.find("gpu0");
  const tensor = { name: "observation", dtype: "float32", shape: [1, 4], bytes: new Uint8Array(16) } as const;
  const ask = () => host.infer("policy", [{ ...tensor, shape: [...tensor.shape] }], { requestId: "req_1" });
  await host.loadModel({ modelKey: "policy", read: async () => file });
  const before = await ask();
  process.kill(host.pid!, "SIGKILL");
  await vi.waitFor(() => expect(host.isDown).toBe(true), TIMEOUT_MS);
  expect((await ask()).tensors).toEqual(before.tensors);
  await host.unloadModel("policy");
  expect((await problemOf(ask())).code).toBe("not-found");
});
