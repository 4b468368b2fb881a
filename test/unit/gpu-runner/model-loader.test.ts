import { describe, expect, it, vi } from "vitest";
import type { DeviceHost } from "../../../src/gpu-runner/process/device-host.ts";
import { explainFailure } from "../../../src/gpu-runner/serving/explain-failure.ts";
import { ModelLoader } from "../../../src/gpu-runner/serving/model-loader.ts";
import { createId } from "../../../src/protocol/id.ts";
import type { PlacedModel } from "../../../src/protocol/link.ts";
import { ProblemError } from "../../../src/protocol/problem.ts";

const model: PlacedModel = {
  modelVersionId: createId("modelVersion"),
  variants: [{ name: "fp32", digest: "sha256:0" }],
  inputs: [],
  outputs: [],
};
const served = { modelVersionId: model.modelVersionId, variant: "fp32" };

/** A loader, and a device on which each load ends as the test says. */
function scriptLoads() {
  const loads: PromiseWithResolvers<{ loadMs: number }>[] = [];
  const host = {
    device: { key: "cpu" },
    loadModel: () => {
      const load = Promise.withResolvers<{ loadMs: number }>();
      loads.push(load);
      return load.promise;
    },
    unloadModel: async () => {},
    infer: async () => ({ tensors: [], times: { uploadMs: 0, computeMs: 0, readbackMs: 0 } }),
  } as unknown as DeviceHost;
  const residency = { keep: vi.fn<(digest: string) => void>(), read: async () => new Uint8Array() };
  const models = new ModelLoader(residency, { warn: () => {} });
  return { models, host, loads, load: () => models.ensureLoaded(model, "fp32", host) };
}

describe("a model", () => {
  it("is loaded once for all who want it, and asked for by its version from then on", async () => {
    const { models, host, loads, load } = scriptLoads();
    const wanted = Promise.all([load(), load()]);
    loads[0]?.resolve({ loadMs: 7 });
    expect(await wanted).toEqual([7, 7]);
    expect(await models.ensureReady(served, host)).toMatchObject({ joins: false });
    expect(models.find(model.modelVersionId)).toBe(model);
    expect(loads).toHaveLength(1);
  });

  it("that nobody placed here, or whose variant is not here, is no placement", async () => {
    const { models, host, load, loads } = scriptLoads();
    await expect(models.ensureReady(served, host)).rejects.toMatchObject({ problem: { code: "no-placement" } });
    void load();
    const other = models.ensureReady({ ...served, variant: "int8" }, host);
    await expect(other).rejects.toMatchObject({ problem: { code: "no-placement" } });
    expect(loads).toHaveLength(1);
  });

  it("whose load failed is loaded again for the next", async () => {
    const { loads, load } = scriptLoads();
    const failed = load();
    loads[0]?.reject(new Error("no memory"));
    await expect(failed).rejects.toThrow("no memory");
    void load();
    expect(loads).toHaveLength(2);
  });

  it("keeps its newer load when the one before it fails", async () => {
    const { models, host, loads, load } = scriptLoads();
    const failed = load();
    await models.unload(served, host);
    void load();
    loads[0]?.reject(new Error("unloaded"));
    await expect(failed).rejects.toThrow("unloaded");
    void load();
    expect(loads).toHaveLength(2);
  });
});

describe("a request that fails", () => {
  it("for want of a model that was there has it loaded again", async () => {
    const { models, loads, load } = scriptLoads();
    const loaded = load();
    loads[0]?.resolve({ loadMs: 1 });
    await loaded;
    const gone = new ProblemError("not-found", "The model is not loaded");
    expect(explainFailure(models, served, gone)).toMatchObject({ code: "no-placement", retryAfterMs: 500 });
    void load();
    expect(loads).toHaveLength(2);
  });

  it("for another reason says it and loads nothing", async () => {
    const { models, loads, load } = scriptLoads();
    void load();
    expect(explainFailure(models, served, new ProblemError("overloaded", "Full.")).code).toBe("overloaded");
    expect(explainFailure(models, served, new Error("a secret path")).detail).not.toContain("secret");
    void load();
    expect(loads).toHaveLength(1);
  });
});
