import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { writeOnnxMlp } from "../../models/onnx-mlp-writer.ts";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { OrtBackend } from "../../src/gpu-runner/devices/ort/ort-backend.ts";
import { InferenceServer } from "../../src/gpu-runner/serving/queue/inference-server.ts";
import { ModelLoader } from "../../src/gpu-runner/serving/model-loader.ts";
import { serveRequest } from "../../src/gpu-runner/serving/serve-request.ts";
import { AGREEMENT, maxRelativeError } from "../../src/gpu-runner/networks/compare-outputs.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import type { PlacedModel } from "../../src/protocol/link.ts";
import { createSeededInputs } from "../../src/protocol/models/model-inputs.ts";
import { DEFAULT_CONFIGURATION } from "../../src/protocol/fleet/serving.ts";
import { problemOf } from "./problem-of.ts";

const TIMEOUT_MS = 120_000;
const SIZE = 128;
const FOUR = { ...DEFAULT_CONFIGURATION, threads: 4 };
const logger = pino({ level: "silent" });

/** Two layers whose weights are neither zero nor alike. */
const layers = [1, 2].map((seed) => ({
  inputs: SIZE,
  outputs: SIZE,
  weights: Float32Array.from({ length: SIZE * SIZE }, (_, index) => Math.sin(index * seed) / SIZE),
  bias: Float32Array.from({ length: SIZE }, (_, index) => Math.cos(index * seed)),
}));
const content = writeOnnxMlp({ name: "dense", input: "x", output: "y", layers });
const spec = (name: string) => ({ name, dtype: "float32" as const, shape: [-1, SIZE] });
const model: PlacedModel = {
  modelVersionId: createId("modelVersion"),
  variants: [{ name: "fp32", digest: `sha256:${"0".repeat(64)}` }],
  inputs: [spec("x")],
  outputs: [spec("y")],
};
const inputs = createSeededInputs(model.inputs, 1);

let host: DeviceHost;
beforeAll(async () => {
  host = await DeviceHost.start({ role: "cpu", deviceKey: "cpu", cacheDir: tmpdir(), logger });
}, TIMEOUT_MS);
afterAll(() => host.stop());

const createLoader = () => new ModelLoader({ keep: () => {}, read: async () => content }, logger);
const ask = async (modelKey: string) =>
  (await host.infer(modelKey, inputs, { requestId: createId("request") })).tensors;
const threadsOf = async () => (await readdir(`/proc/${host.pid}/task`)).length;

describe("two thread counts of one model", { timeout: TIMEOUT_MS }, () => {
  test("are loaded at once and answer alike, also after the process was killed", async () => {
    const models = createLoader();
    const one = await models.borrow(model, "fp32", host, DEFAULT_CONFIGURATION);
    const before = await threadsOf();
    const four = await models.borrow(model, "fp32", host, FOUR);
    expect(four.modelKey).not.toBe(one.modelKey);
    expect(four.joins).toBe(true);
    // The one that asks computes, too.
    expect(await threadsOf()).toBe(before + 3);
    const answer = await ask(one.modelKey);
    expect(maxRelativeError(answer, await ask(four.modelKey))).toBeLessThanOrEqual(AGREEMENT);

    const { restarts } = host;
    process.kill(host.pid ?? 0, "SIGKILL");
    await vi.waitFor(() => expect(host.restarts).toBe(restarts + 1), TIMEOUT_MS);
    expect(maxRelativeError(answer, await ask(four.modelKey))).toBeLessThanOrEqual(AGREEMENT);
    expect(maxRelativeError(answer, await ask(one.modelKey))).toBeLessThanOrEqual(AGREEMENT);
    const both = await threadsOf();
    await four.release();
    await vi.waitFor(async () => expect(await threadsOf()).toBe(both - 3), TIMEOUT_MS);
    expect((await problemOf(ask(four.modelKey))).code).toBe("not-found");
    await one.release();
  });

  test("take over from each other while requests are served, and none of them is lost", async () => {
    const models = createLoader();
    const device = { host, server: new InferenceServer(host) };
    const fleet = { find: () => device, cpu: device };
    await models.configure(model, "fp32", device, DEFAULT_CONFIGURATION);
    const { signal } = new AbortController();
    const serve = () => {
      const request = { requestId: createId("request"), modelVersionId: model.modelVersionId, variant: "fp32" };
      const wishes = { deviceKey: "cpu", budgetMs: TIMEOUT_MS };
      return serveRequest({ fleet, models }, { ...request, ...wishes }, inputs, performance.now(), signal);
    };
    const expected = (await serve()).tensors;
    const ended = new AbortController();
    let served = 0;
    const client = async () => {
      for (; !ended.signal.aborted; served++)
        expect(maxRelativeError(expected, (await serve()).tensors)).toBeLessThanOrEqual(AGREEMENT);
    };
    const clients = Promise.all([client(), client(), client()]);
    for (const configuration of [FOUR, DEFAULT_CONFIGURATION, { ...FOUR, maxRows: 2 }]) {
      const before = served;
      await models.configure(model, "fp32", device, configuration);
      expect(models.configurationOf({ modelVersionId: model.modelVersionId, variant: "fp32" }, host)).toBe(
        configuration,
      );
      await vi.waitFor(() => expect(served).toBeGreaterThan(before), TIMEOUT_MS);
    }
    ended.abort();
    await clients;
    expect((await serve()).tensors).toHaveLength(1);
  });
});

test("threads are refused by a provider that does not compute with them", async () => {
  const problem = await problemOf(new OrtBackend("webgpu").load("threads", content, 2));
  expect(problem).toMatchObject({ code: "backend-failed", detail: expect.stringContaining("CPU provider") });
});
