/** A model's layouts measured anew on the software GPU, kept on the disk, and served without a restart. */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../../src/gpu-runner/config.ts";
import { runTuning } from "../../../src/gpu-runner/kinds/tuning/run-tuning.ts";
import { AGREEMENT, maxRelativeError } from "../../../src/gpu-runner/networks/compare-outputs.ts";
import { LayoutStore } from "../../../src/gpu-runner/memory/layout-store.ts";
import { DeviceFleet } from "../../../src/gpu-runner/serving/device-fleet.ts";
import { ModelLoader } from "../../../src/gpu-runner/serving/model-loader.ts";
import { writeModel } from "../../../src/onnx/write-model.ts";
import { DEFAULT_CONFIGURATION } from "../../../src/protocol/fleet/serving.ts";
import type { JobProgress } from "../../../src/protocol/jobs/job.ts";
import { TuningResult, TuningSpec } from "../../../src/protocol/jobs/tuning.ts";
import type { PlacedModel } from "../../../src/protocol/link.ts";
import { createSeededInputs } from "../../../src/protocol/models/model-inputs.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { network, node, weights } from "../../kernels/network/agreement.ts";

const TIMEOUT_MS = 900_000;
const logger = pino({ level: "silent" });
/** Sixteen rows of a free number of tokens through a layer that is heavy enough for tiles. */
const file = writeModel({
  ...network([node("MatMul", ["x", "w"], ["y"])], { x: [16, 384], y: [16, 384], tensors: [weights("w", [384, 384])] }),
  inputs: [{ name: "x", dtype: "float32", shape: ["batch", "tokens", 384] }],
  outputs: [{ name: "y", dtype: "float32", shape: ["batch", "tokens", 384] }],
});
const digest = `sha256:${createHash("sha256").update(file).digest("hex")}`;
const model: PlacedModel = {
  modelVersionId: createId("modelVersion"),
  variants: [{ name: "fp32", digest }],
  inputs: [
    {
      name: "x",
      dtype: "float32",
      shape: [-1, -1, 384],
      shapes: [
        [1, 16, 384],
        [1, 24, 384],
      ],
    },
  ],
  outputs: [{ name: "y", dtype: "float32", shape: [-1, -1, 384] }],
};

let folder = "";
let fleet: DeviceFleet;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "millrace-tune-model-"));
  const settings = { MILLRACE_RUNNER_DIR: folder, MILLRACE_GPU: "software", MILLRACE_WGSL_MODELS: "on" };
  fleet = await DeviceFleet.start(readConfig(settings), logger);
}, TIMEOUT_MS);
afterAll(async () => {
  await fleet.stop();
  await rm(folder, { recursive: true });
});

/** A runner's loader, as it is after a start. */
async function startLoader(): Promise<{ models: ModelLoader; layouts: LayoutStore }> {
  const layouts = await LayoutStore.open(folder, logger);
  return { layouts, models: new ModelLoader({ keep: () => {}, read: async () => file }, logger, layouts) };
}

async function tune(models: ModelLoader, signal = new AbortController().signal) {
  const phases = new Set<string>();
  // Enough for both sizes, also on a slow machine: the search ends when all is tried.
  const spec = TuningSpec.parse({ kind: "tuning", model: "tokens@1", budgetMs: 600_000 });
  const onProgress = ({ phase }: JobProgress) => phases.add(phase);
  const context = { fleet, models, model, otherJobs: 0, signal, onProgress };
  const { result } = await runTuning(spec, context as never);
  return { network: TuningResult.parse(result).network!, phases };
}

test(
  "each declared size gets a layout, which is served at once and after a restart",
  { timeout: TIMEOUT_MS },
  async () => {
    const { host } = fleet.find("gpu0");
    const { models, layouts } = await startLoader();
    const borrowed = await models.borrow(model, "fp32", host, DEFAULT_CONFIGURATION);
    const ask = () => host.infer(borrowed.modelKey, createSeededInputs(model.inputs, 1), { requestId: "req_1" });
    const before = await ask();
    const { network: found, phases } = await tune(models);
    expect(found).toMatchObject({ model: "tokens@1", variant: "fp32", reloaded: true });
    expect(found.sizes.map(({ inputs }) => inputs)).toEqual([{ x: [1, 16, 384] }, { x: [1, 24, 384] }]);
    for (const { trials, before: old, after, complete } of found.sizes) {
      // The default first, then the others until the time is over.
      expect(trials[0]).toMatchObject({ layout: { tiling: null }, reason: null });
      expect([old, ...trials].map(({ layout }) => layout)).toContainEqual(after.layout);
      expect(after.ms.count).toBeGreaterThan(0);
      if (complete) expect(trials.map(({ layout }) => layout.tiling)).toContain("in-registers");
    }
    expect([...phases]).toEqual(expect.arrayContaining(["try layouts, size 1 of 2", "compare, size 2 of 2"]));

    const { fingerprint } = host.device;
    const kept = layouts.find(digest, fingerprint);
    for (const { after } of found.sizes) expect(Object.values(kept)).toContainEqual(after.layout);
    // The file's reader has what a later life of the runner begins with.
    expect((await startLoader()).layouts.find(digest, fingerprint)).toEqual(kept);
    expect(maxRelativeError(before.tensors, (await ask()).tensors)).toBeLessThan(AGREEMENT);
    await borrowed.release();
  },
);

test("a choice that a request measured is kept for its sizes", { timeout: TIMEOUT_MS }, async () => {
  const { host } = fleet.find("gpu0");
  const { fingerprint } = host.device;
  const { layouts, models } = await startLoader();
  await layouts.remove(digest, fingerprint);
  const borrowed = await models.borrow(model, "fp32", host, DEFAULT_CONFIGURATION);
  await host.infer(borrowed.modelKey, createSeededInputs(model.inputs, 1), { requestId: "req_1" });
  expect(Object.keys((await startLoader()).layouts.find(digest, fingerprint))).toEqual([expect.stringContaining("16")]);
  await borrowed.release();
});

test("a model that is not loaded has its layouts from the next load on", { timeout: TIMEOUT_MS }, async () => {
  const { models } = await startLoader();
  expect((await tune(models)).network.reloaded).toBe(false);
  await expect(tune(models, AbortSignal.abort())).rejects.toMatchObject({ problem: { code: "cancelled" } });
});

test("sizes for which no time is left are left out, and those before them kept", { timeout: TIMEOUT_MS }, async () => {
  const { host } = fleet.find("gpu0");
  const samples = [0, 1].map((size) => createSeededInputs(model.inputs, 1, size));
  const request = { model: file, samples, layouts: {}, budgetMs: 0 };
  const { sizes, sizesLeft, layouts } = await host.workApart("tuneNetwork", request, TIMEOUT_MS, "backend-failed");
  expect(sizes.map(({ inputs }) => inputs)).toEqual([{ x: [1, 16, 384] }]);
  expect(Object.keys(layouts)).toHaveLength(1);
  expect(sizesLeft).toBe(1);
});
