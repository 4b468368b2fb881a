import { describe, expect, it, vi } from "vitest";
import type { DeviceHost } from "../../../../src/gpu-runner/device-host/device-host.ts";
import { explainFailure } from "../../../../src/gpu-runner/serving/serve-request.ts";
import type { InferenceServer } from "../../../../src/gpu-runner/serving/queue/inference-server.ts";
import { modelKeyOf } from "../../../../src/gpu-runner/serving/queue/model-key.ts";
import { ModelLoader } from "../../../../src/gpu-runner/serving/model-loader.ts";
import { type NetworkLayouts, PLAIN } from "../../../../src/protocol/models/network-layout.ts";
import { createId } from "../../../../src/protocol/wire/id.ts";
import type { PlacedModel } from "../../../../src/protocol/link.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";
import { DEFAULT_CONFIGURATION, type ServingConfiguration } from "../../../../src/protocol/fleet/serving.ts";

const model: PlacedModel = {
  modelVersionId: createId("modelVersion"),
  variants: [{ name: "fp32", digest: "sha256:0" }],
  inputs: [],
  outputs: [],
};
const served = { modelVersionId: model.modelVersionId, variant: "fp32" };

/** A loader, and a device on which each load ends as the test says. */
function scriptLoads() {
  const loads: (PromiseWithResolvers<{ loadMs: number }> & { modelKey: string; threads: number })[] = [];
  const unloaded: string[] = [];
  const host = {
    device: { key: "cpu", backends: ["ort-cpu"] },
    loadModel: ({ modelKey, threads }: { modelKey: string; threads: number }) => {
      const load = { ...Promise.withResolvers<{ loadMs: number }>(), modelKey, threads };
      loads.push(load);
      return load.promise;
    },
    unloadModel: async (modelKey: string) => void unloaded.push(modelKey),
    infer: async () => ({ tensors: [], times: { uploadMs: 0, computeMs: 0, readbackMs: 0 } }),
  } as unknown as DeviceHost;
  const residency = { keep: vi.fn<(digest: string) => void>(), read: async () => new Uint8Array() };
  const models = new ModelLoader(residency, { warn: () => {} });
  const settled = Promise.withResolvers<void>();
  const server = { settled: vi.fn<InferenceServer["settled"]>(() => settled.promise) };
  const configure = (configuration: ServingConfiguration) =>
    models.configure(model, "fp32", { host, server: server as unknown as InferenceServer }, configuration);
  return {
    models,
    host,
    loads,
    unloaded,
    server,
    settled,
    configure,
    load: () => configure(DEFAULT_CONFIGURATION),
  };
}

describe("a model", () => {
  it("is loaded once for all who want it, and asked for by its version from then on", async () => {
    const { models, host, loads, load } = scriptLoads();
    const wanted = Promise.all([load(), load()]);
    loads[0]?.resolve({ loadMs: 7 });
    await wanted;
    expect(await models.ensureReady(served, host)).toMatchObject({ joins: false });
    expect(models.find(model.modelVersionId)).toBe(model);
    expect(loads).toHaveLength(1);
  });

  it("that was not placed here, or whose variant is not here, is no placement", async () => {
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

const four = { ...DEFAULT_CONFIGURATION, threads: 4 };
const keyOf = (threads: number) => modelKeyOf({ ...served, threads });

describe("a configuration", () => {
  it("is that which every placement begins with, until the edge says another", async () => {
    const { models, host, loads, load, configure } = scriptLoads();
    const loaded = load();
    expect(loads[0]).toMatchObject({ modelKey: `${served.modelVersionId}/fp32`, threads: 1 });
    loads[0]?.resolve({ loadMs: 1 });
    await loaded;
    const capped = { ...DEFAULT_CONFIGURATION, maxRows: 4, maxInFlight: 2 };
    await configure(capped);
    expect((await models.ensureReady(served, host)).configuration).toBe(capped);
    // Loaded models serve under any caps.
    expect(loads).toHaveLength(1);
  });

  it("is served once the model is loaded under it; the previous model is freed once no request waits for it", async () => {
    const { models, host, loads, unloaded, load, configure, server, settled } = scriptLoads();
    void load();
    loads[0]?.resolve({ loadMs: 1 });
    const configured = configure(four);
    expect((await models.ensureReady(served, host)).configuration).toEqual(DEFAULT_CONFIGURATION);
    loads[1]?.resolve({ loadMs: 2 });
    await vi.waitFor(() => expect(server.settled).toHaveBeenCalledWith(keyOf(1)), 10_000);
    expect((await models.ensureReady(served, host)).configuration).toBe(four);
    expect(loads.map(({ threads }) => threads)).toEqual([1, 4]);
    expect(unloaded).toEqual([]);
    settled.resolve();
    await configured;
    expect(unloaded).toEqual([keyOf(1)]);
  });

  it("that cannot be loaded leaves what is served", async () => {
    const { models, host, loads, unloaded, load, configure } = scriptLoads();
    void load();
    loads[0]?.resolve({ loadMs: 1 });
    const failed = configure(four);
    loads[1]?.reject(new ProblemError("backend-failed", "No threads."));
    await expect(failed).rejects.toThrow("No threads.");
    expect((await models.ensureReady(served, host)).configuration).toEqual(DEFAULT_CONFIGURATION);
    expect(unloaded).toEqual([]);
  });

  it("of several at once is the last, whichever is loaded first", async () => {
    const { models, host, loads, unloaded, load, configure, settled } = scriptLoads();
    settled.resolve();
    void load();
    loads[0]?.resolve({ loadMs: 1 });
    const two = { ...DEFAULT_CONFIGURATION, threads: 2 };
    const [first, last] = [configure(four), configure(two)];
    loads[2]?.resolve({ loadMs: 1 });
    await last;
    loads[1]?.resolve({ loadMs: 1 });
    await first;
    expect((await models.ensureReady(served, host)).configuration).toBe(two);
    expect(unloaded).toEqual([keyOf(1), keyOf(4)]);
  });

  it("is kept where the next one wants the same threads under other caps", async () => {
    const { models, host, loads, unloaded, load, configure, settled } = scriptLoads();
    settled.resolve();
    void load();
    loads[0]?.resolve({ loadMs: 1 });
    const capped = { ...four, maxRows: 4 };
    const both = [configure(four), configure(capped)];
    loads[1]?.resolve({ loadMs: 1 });
    await Promise.all(both);
    expect((await models.ensureReady(served, host)).configuration).toBe(capped);
    expect(unloaded).toEqual([keyOf(1)]);
    expect(loads).toHaveLength(2);
  });

  it("of a runner that has just connected is waited for by its first requests", async () => {
    const { models, host, loads, configure } = scriptLoads();
    const configured = configure(four);
    const ready = models.ensureReady(served, host);
    loads[0]?.resolve({ loadMs: 1 });
    await configured;
    expect((await ready).configuration).toBe(four);
    expect(loads).toHaveLength(1);
  });

  it("that a measurement found is adopted only where the edge has said none", async () => {
    const { models, host, loads, configure, server } = scriptLoads();
    const configured = configure(four);
    loads[0]?.resolve({ loadMs: 1 });
    await configured;
    const device = { host, server: server as unknown as InferenceServer };
    await models.adopt(model, "fp32", device, DEFAULT_CONFIGURATION);
    expect(models.configurationOf(served, host)).toBe(four);
    expect(loads).toHaveLength(1);
  });
});

describe("a model that is borrowed", () => {
  it("stays until the last one who borrowed it gives it back, beside what is served", async () => {
    const { models, host, loads, unloaded, load } = scriptLoads();
    void load();
    loads[0]?.resolve({ loadMs: 1 });
    const borrowing = [1, 2].map(() => models.borrow(model, "fp32", host, four));
    loads[1]?.resolve({ loadMs: 5 });
    const [one, two] = await Promise.all(borrowing);
    expect(one).toMatchObject({ modelKey: keyOf(4), loadMs: 5, joins: false });
    await one!.release();
    await one!.release();
    expect(unloaded).toEqual([]);
    await two!.release();
    expect(unloaded).toEqual([keyOf(4)]);
    const again = models.borrow(model, "fp32", host, four);
    loads[2]?.resolve({ loadMs: 5 });
    await (await again).release();
    expect(unloaded).toEqual([keyOf(4), keyOf(4)]);
  });

  it("stays where it is served, also where it came to be so meanwhile", async () => {
    const { models, host, loads, unloaded, load, configure, settled } = scriptLoads();
    settled.resolve();
    void load();
    loads[0]?.resolve({ loadMs: 1 });
    await (await models.borrow(model, "fp32", host, DEFAULT_CONFIGURATION)).release();
    const borrowed = models.borrow(model, "fp32", host, four);
    loads[1]?.resolve({ loadMs: 1 });
    const { release } = await borrowed;
    await configure(four);
    await release();
    expect(unloaded).toEqual([keyOf(1)]);
  });

  it("is not freed while it is borrowed", async () => {
    const { models, host, loads, unloaded, load } = scriptLoads();
    void load();
    loads[0]?.resolve({ loadMs: 1 });
    const { release } = await models.borrow(model, "fp32", host, DEFAULT_CONFIGURATION);
    await models.unload(served, host);
    expect(unloaded).toEqual([]);
    await release();
    expect(unloaded).toEqual([keyOf(1)]);
  });

  it("and cannot be loaded leaves nothing behind", async () => {
    const { models, host, loads, unloaded } = scriptLoads();
    const failed = models.borrow(model, "fp32", host, four);
    loads[0]?.reject(new ProblemError("invalid-model", "No model."));
    await expect(failed).rejects.toThrow("No model.");
    void models.borrow(model, "fp32", host, four);
    expect(loads).toHaveLength(2);
    expect(unloaded).toEqual([]);
  });
});

describe("a model that is tried apart", () => {
  it("is tried by its file, and not where it is loaded", async () => {
    const { models, host, loads, load } = scriptLoads();
    const tryModel = vi.fn<DeviceHost["tryModel"]>(async () => null);
    Object.assign(host, { tryModel });
    const { signal } = new AbortController();
    await models.tryApart(model, "fp32", host, DEFAULT_CONFIGURATION, signal);
    expect(tryModel).toHaveBeenCalledExactlyOnceWith(new Uint8Array(), [], { threads: 1, signal });
    expect(loads).toHaveLength(0);
    const loading = load();
    loads[0]?.resolve({ loadMs: 1 });
    await loading;
    await models.tryApart(model, "fp32", host, DEFAULT_CONFIGURATION, signal);
    expect(tryModel).toHaveBeenCalledTimes(1);
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

describe("a layout of our kernels", () => {
  const layouts = { "any rows": { ...PLAIN, lanes: 4, spreadFrom: 0, tiling: "in-registers" } } as const;

  /** A loader that begins anew; `opens` says whether a stored layout still does. */
  function scriptLayouts(opens: boolean) {
    const stored = new Map<string, NetworkLayouts>();
    const given: unknown[] = [];
    const host = {
      device: { key: "gpu0", fingerprint: {} },
      loadModel: async (input: { layouts: NetworkLayouts; onChosen: (chosen: NetworkLayouts) => void }) => {
        given.push(input.layouts);
        const isNew = Object.keys(input.layouts).length === 0;
        if (!isNew && !opens) throw new ProblemError("kernel-invalid", "It does not compile.");
        if (isNew) input.onChosen(layouts);
        return { loadMs: 1 };
      },
      infer: async () => ({ tensors: [], times: { uploadMs: 0, computeMs: 0, readbackMs: 0 } }),
    } as unknown as DeviceHost;
    const store = {
      find: (digest: string) => stored.get(digest) ?? {},
      save: async (digest: string, _: unknown, found: NetworkLayouts) => void stored.set(digest, found),
      remove: async (digest: string) => void stored.delete(digest),
    };
    const start = () => {
      const models = new ModelLoader({ keep: () => {}, read: async () => new Uint8Array() }, { warn: () => {} }, store);
      return models.borrow(model, "fp32", host, DEFAULT_CONFIGURATION);
    };
    return { stored, given, start };
  }

  it("is kept once measured, and given to every later load", async () => {
    const { stored, given, start } = scriptLayouts(true);
    await start();
    await start();
    expect(given).toEqual([{}, layouts]);
    expect([...stored.keys()]).toEqual(["sha256:0"]);
  });

  it("that no longer opens is replaced by one that is measured anew", async () => {
    const { stored, given, start } = scriptLayouts(false);
    const old = { "any rows": { ...layouts["any rows"], lanes: 8 } };
    stored.set("sha256:0", old);
    await start();
    expect(given).toEqual([old, {}]);
    expect(stored.get("sha256:0")).toEqual(layouts);
  });
});

describe("a model that is tuned", () => {
  const untuned = { "any rows": { ...PLAIN, lanes: 64, spreadFrom: 0 } };
  const tuned = { "any rows": { ...untuned["any rows"], tiling: "in-registers" } } as const;

  /** A loader with a store, a device on which each load ends as the test says, and a tuning that finds `tuned`. */
  function scriptTuning() {
    const stored = new Map<string, NetworkLayouts>();
    const loaded = new Map<string, NetworkLayouts>();
    const loads: (PromiseWithResolvers<void> & { layouts: NetworkLayouts })[] = [];
    const host = {
      device: { key: "gpu0", fingerprint: {} },
      loadModel: async ({ modelKey, layouts, onChosen }: Parameters<DeviceHost["loadModel"]>[0]) => {
        const load = { ...Promise.withResolvers<void>(), layouts: layouts ?? {} };
        loads.push(load);
        await load.promise;
        const isNew = Object.keys(load.layouts).length === 0;
        loaded.set(modelKey, isNew ? untuned : load.layouts);
        if (isNew) onChosen?.(untuned);
        return { loadMs: 1 };
      },
      layoutsOf: (modelKey: string) => loaded.get(modelKey),
      unloadModel: async (modelKey: string) => void loaded.delete(modelKey),
      infer: async () => ({ tensors: [], times: { uploadMs: 0, computeMs: 0, readbackMs: 0 } }),
    } as unknown as DeviceHost;
    const store = {
      find: (digest: string) => stored.get(digest) ?? {},
      save: async (digest: string, _: unknown, found: NetworkLayouts) => void stored.set(digest, found),
      remove: async (digest: string) => void stored.delete(digest),
    };
    const residency = { keep: () => {}, read: async () => new Uint8Array() };
    const models = new ModelLoader(residency, { warn: () => {} }, store);
    const load = () => models.borrow(model, "fp32", host, DEFAULT_CONFIGURATION);
    const begun = (count: number) => vi.waitFor(() => expect(loads).toHaveLength(count), 10_000);
    return { models, host, stored, loaded, loads, load, begun };
  }
  type Script = ReturnType<typeof scriptTuning>;

  const tune = ({ models, host }: Script) => models.retune(model, "fp32", host, async () => tuned);

  /** The same with the model loaded in the layout that its load measured. */
  async function scriptLoaded(): Promise<Script> {
    const script = scriptTuning();
    const loading = script.load();
    const ready = script.models.ensureReady(served, script.host);
    script.loads[0]?.resolve();
    await ready;
    await (await loading).release();
    return script;
  }

  it("while its first load measures is served and kept as it was tuned", async () => {
    const script = scriptTuning();
    const { stored, loaded, loads, load, begun } = script;
    const measured = Promise.withResolvers<typeof tuned>();
    const tuning = script.models.retune(model, "fp32", script.host, () => measured.promise);
    const loading = load();
    measured.resolve(tuned);
    await new Promise(setImmediate);
    expect(stored.size).toBe(0);
    loads[0]?.resolve();
    await loading;
    await begun(2);
    loads[1]?.resolve();
    expect(await tuning).toEqual({ reloaded: true });
    expect(loads.map(({ layouts }) => layouts)).toEqual([{}, tuned]);
    expect([...stored.values(), ...loaded.values()]).toEqual([tuned, tuned]);
  });

  it("keeps its layouts where the load beside it fails", async () => {
    const script = scriptTuning();
    const loading = script.load();
    const tuning = tune(script);
    script.loads[0]?.reject(new ProblemError("out-of-memory", "It does not fit."));
    await expect(loading).rejects.toThrow("It does not fit.");
    expect(await tuning).toEqual({ reloaded: false });
    expect([...script.stored.values()]).toEqual([tuned]);
  });

  it("is not loaded again where it has the layouts already", async () => {
    const script = await scriptLoaded();
    const { loads, begun } = script;
    const first = tune(script);
    await begun(2);
    loads[1]?.resolve();
    expect(await first).toEqual({ reloaded: true });
    expect(await tune(script)).toEqual({ reloaded: true });
    expect(loads).toHaveLength(2);
  });

  it("stays as it was where it cannot be loaded again, and says why", async () => {
    const script = await scriptLoaded();
    const { loads, loaded, stored, begun } = script;
    const tuning = tune(script);
    await begun(2);
    loads[1]?.reject(new ProblemError("out-of-memory", "Not twice."));
    expect(await tuning).toMatchObject({ reloaded: false, reloadProblem: { code: "out-of-memory" } });
    expect([...loaded.values()]).toEqual([untuned]);
    expect([...stored.values()]).toEqual([tuned]);
  });

  it("is freed where it was unloaded meanwhile", async () => {
    const script = await scriptLoaded();
    const tuning = tune(script);
    await script.begun(2);
    await script.models.unload(served, script.host);
    script.loads[1]?.resolve();
    expect(await tuning).toEqual({ reloaded: false });
    expect(script.loaded.size).toBe(0);
  });

  it("stays where it was unloaded meanwhile and another load begun", async () => {
    const script = await scriptLoaded();
    const { models, host, loads, loaded, begun } = script;
    const tuning = tune(script);
    await begun(2);
    await models.unload(served, host);
    const again = script.load();
    loads[2]?.resolve();
    await again;
    loads[1]?.resolve();
    expect(await tuning).toEqual({ reloaded: true });
    expect([...loaded.values()]).toEqual([tuned]);
  });
});
