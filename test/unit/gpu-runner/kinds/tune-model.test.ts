import { expect, it } from "vitest";
import { runTuning } from "../../../../src/gpu-runner/kinds/tuning/run-tuning.ts";
import { ModelLoader } from "../../../../src/gpu-runner/serving/model-loader.ts";
import { DEFAULT_CONFIGURATION } from "../../../../src/protocol/fleet/serving.ts";
import { TuningSpec } from "../../../../src/protocol/jobs/tuning.ts";
import type { PlacedModel } from "../../../../src/protocol/link.ts";
import { createId } from "../../../../src/protocol/wire/id.ts";
import { createGuarding } from "../guarding-fleet.ts";

const model: PlacedModel = {
  modelVersionId: createId("modelVersion"),
  variants: [{ name: "fp32", digest: "sha256:0" }],
  inputs: [],
  outputs: [],
};

/** A runner with two GPUs, the first less busy. */
function createRunner() {
  const createHost = (key: string, waiting: number) => ({
    device: { key, fingerprint: {}, servesModels: true, backends: ["wgsl"] },
    waiting,
    loadModel: async () => ({ loadMs: 1 }),
    layoutsOf: () => ({}),
    infer: async () => ({ tensors: [], times: { uploadMs: 0, computeMs: 0, readbackMs: 0 } }),
    workApart: async () => ({ sizes: [], sizesLeft: 0, layouts: {} }),
  });
  const hosts = [createHost("gpu0", 0), createHost("gpu1", 1)];
  const models = new ModelLoader({ keep: () => {}, read: async () => new Uint8Array() }, { warn: () => {} });
  const fleet = { all: () => hosts.map((host) => ({ host })), ...createGuarding() };
  const tune = () => {
    const spec = TuningSpec.parse({ kind: "tuning", model: "tokens@1" });
    const { signal } = new AbortController();
    return runTuning(spec, { fleet, models, model, otherJobs: 0, signal, onProgress: () => {} } as never);
  };
  const load = (at: number) => models.borrow(model, "fp32", hosts[at] as never, DEFAULT_CONFIGURATION);
  return { tune, load };
}

it("tunes a model on the device that serves it, though another is less busy", async () => {
  const { tune, load } = createRunner();
  await load(1);
  expect(await tune()).toMatchObject({ deviceKey: "gpu1", result: { network: { reloaded: true } } });
});

it("tunes a model on the least busy device where none, or each, serves it", async () => {
  const { tune, load } = createRunner();
  expect(await tune()).toMatchObject({ deviceKey: "gpu0", result: { network: { reloaded: false } } });
  await load(0);
  await load(1);
  expect((await tune()).deviceKey).toBe("gpu0");
});
