import { readFile } from "node:fs/promises";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { NetworkLayout, NetworkLayouts } from "../../protocol/models/network-layout.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import type { Gpu } from "../devices/gpu/device.ts";
import { type NetworkContext, openNetwork } from "./open-network.ts";
import type { ModelContent } from "../devices/ort/model-paths.ts";
import type { InferenceOutcome } from "../devices/ort/ort-backend.ts";
import type { RunningNetwork } from "./sized-network.ts";

const MEASURED_KEY = "measured";

interface LoadedNetwork {
  readonly network: RunningNetwork;
  /** Takes the layouts that were measured since the last time, by sizes. */
  readonly takeChosen: () => NetworkLayouts;
}

/** Models on a GPU in our own kernels, with one pool of buffers. */
export class WgslBackend {
  readonly #gpu: Pick<Gpu, "throwUncaptured">;
  readonly #context: NetworkContext;
  readonly #networks = new Map<string, LoadedNetwork>();

  constructor(gpu: Pick<Gpu, "throwUncaptured">, context: NetworkContext) {
    this.#gpu = gpu;
    this.#context = context;
  }

  /**
   * Loads an ONNX file by its path or its content, and replaces any model under the key. `layouts` were measured before.
   * Returns those that this load measured; others may be measured with a request. Fails with `invalid-model` for
   * unsupported operators, and with `backend-failed` where threads are requested.
   */
  async load(
    modelKey: string,
    model: string | ModelContent,
    { threads = 1, layouts = {} }: { readonly threads?: number | undefined; readonly layouts?: NetworkLayouts } = {},
  ): Promise<{ loadMs: number; layouts: NetworkLayouts }> {
    if (threads > 1) {
      throw new ProblemError("backend-failed", `Only the CPU provider supports threads; ${threads} were asked for.`);
    }
    if (typeof model !== "string" && !(model instanceof Uint8Array)) {
      throw new ProblemError("invalid-model", `It reads one file of at most ${LIMITS.modelBytes} bytes.`);
    }
    const startedAt = performance.now();
    const file = typeof model === "string" ? await readModelFile(model) : model;
    let chosen: Record<string, NetworkLayout> = {};
    const takeChosen = () => {
      const taken = chosen;
      chosen = {};
      return taken;
    };
    const network = await openNetwork(this.#context, file, {
      layouts,
      onChosen: (sizes, layout) => (chosen[sizes] = layout),
    });
    try {
      this.#gpu.throwUncaptured();
    } catch (error) {
      await network.close();
      throw error;
    }
    this.unload(modelKey);
    this.#networks.set(modelKey, { network, takeChosen });
    return { loadMs: performance.now() - startedAt, layouts: takeChosen() };
  }

  /** Frees a model; an unknown key is no error. */
  unload(modelKey: string): void {
    void this.#networks.get(modelKey)?.network.close();
    this.#networks.delete(modelKey);
  }

  /** Runs a model on tensors by the names of its inputs. Fails with `not-found` for a model that is not loaded. */
  async run(modelKey: string, inputs: readonly Tensor[]): Promise<InferenceOutcome> {
    const loaded = this.#networks.get(modelKey);
    if (loaded === undefined) throw new ProblemError("not-found", `The model '${modelKey}' is not loaded`);
    const { network, takeChosen } = loaded;
    const outcome = await network.run(inputs);
    try {
      this.#gpu.throwUncaptured();
    } catch (error) {
      await network.forgetLatest?.();
      throw error;
    }
    const layouts = takeChosen();
    return Object.keys(layouts).length === 0 ? outcome : { ...outcome, layouts };
  }

  /** Bytes of device memory in use after each batch, with the model loaded and the batches run in turn. */
  async measureMemory(model: ModelContent, batches: readonly (readonly Tensor[])[]): Promise<number[]> {
    const { counters } = this.#context.pool;
    const restBytes = counters.liveBytes;
    await this.load(MEASURED_KEY, model);
    const takenBytes: number[] = [];
    for (const batch of batches) {
      await this.run(MEASURED_KEY, batch);
      takenBytes.push(Math.max(0, counters.liveBytes - restBytes));
    }
    this.unload(MEASURED_KEY);
    return takenBytes;
  }

  /** Milliseconds to load a model and compile its program, and from then to its first answer. */
  async measureStart(
    model: ModelContent,
    tensors: readonly Tensor[],
  ): Promise<{ loadMs: number; firstAnswerMs: number }> {
    const { loadMs } = await this.load(MEASURED_KEY, model);
    const loadedAtMs = performance.now();
    await this.run(MEASURED_KEY, tensors);
    const firstAnswerMs = performance.now() - loadedAtMs;
    this.unload(MEASURED_KEY);
    return { loadMs, firstAnswerMs };
  }
}

function readModelFile(path: string): Promise<Uint8Array> {
  return readFile(path).catch(() => {
    throw new ProblemError("invalid-model", "The wgsl backend cannot read the model's file.");
  });
}
