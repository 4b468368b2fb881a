import { readFile } from "node:fs/promises";
import type { NetworkLayouts } from "../../protocol/models/network-layout.ts";
import { type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";
import type { ModelContent } from "../devices/ort/model-paths.ts";
import type { CallOptions, DeviceChild, DeviceLogger } from "./device-child.ts";
import { judgeReload } from "./life-machine.ts";
import { ModelQuarantine } from "./quarantine.ts";

/**
 * One limit for loading and running: the first call, which blocks the others, is the first to reach it, so no call is
 * blamed for another.
 */
const RUN_LIMIT_MS = 30_000;

/** An ONNX file: its path, or a function that reads its content anew for every life of the process. */
export type ModelFile = { readonly path: string } | { readonly read: () => Promise<ModelContent> };

interface LoadedModel {
  readonly file: ModelFile;
  readonly threads: number;
  /** Layouts in our kernels, which a later life of the process need not measure again. */
  layouts: NetworkLayouts;
  readonly onChosen: (layouts: NetworkLayouts) => void;
  fatalReloads: number;
}

interface KeptModelsOptions {
  readonly deviceKey: string;
  readonly runLimitMs?: number;
  readonly logger: DeviceLogger;
}

/** Models of a device, which every life of its process loads, and the quarantine of those that end it. */
export class KeptModels {
  /** Time limit of one run of a model, and of loading it. */
  readonly runLimitMs: number;
  readonly #deviceKey: string;
  readonly #logger: DeviceLogger;
  readonly #models = new Map<string, LoadedModel>();
  readonly #quarantine = new ModelQuarantine();

  constructor({ deviceKey, runLimitMs = RUN_LIMIT_MS, logger }: KeptModelsOptions) {
    this.#deviceKey = deviceKey;
    this.runLimitMs = runLimitMs;
    this.#logger = logger;
  }

  get isEmpty(): boolean {
    return this.#models.size === 0;
  }

  keep(modelKey: string, model: Omit<LoadedModel, "fatalReloads">): void {
    this.#models.set(modelKey, { ...model, fatalReloads: 0 });
  }

  forget(modelKey: string): void {
    this.#models.delete(modelKey);
  }

  /** Keeps layouts that the process measured for a model. */
  noteLayouts(modelKey: string, layouts: NetworkLayouts = {}): void {
    const model = this.#models.get(modelKey);
    if (model === undefined || Object.keys(layouts).length === 0) return;
    model.layouts = { ...model.layouts, ...layouts };
    model.onChosen(layouts);
  }

  /** Fails with `not-found` where the model is not loaded. */
  find(modelKey: string): Readonly<LoadedModel> {
    const loaded = this.#models.get(modelKey);
    if (loaded === undefined) throw new ProblemError("not-found", `The model '${modelKey}' is not loaded`);
    return loaded;
  }

  /** Fails with `model-quarantined` where the model ended the process too often. */
  refuse(modelKey: string): void {
    this.#quarantine.refuse(modelKey, Date.now());
  }

  /** Limits of a model's call: where it ends the process, that counts against the model. */
  limitOf(modelKey: string): CallOptions {
    const onBlame = (code: ProblemCode) => this.#quarantine.note(modelKey, code, Date.now());
    return { limitMs: this.runLimitMs, limitCode: "backend-failed", onBlame };
  }

  async load(
    child: Pick<DeviceChild, "call">,
    modelKey: string,
    { file, threads, layouts }: Pick<LoadedModel, "file" | "threads" | "layouts">,
  ) {
    const input = { modelKey, model: await contentOf(file), threads, layouts };
    return child.call("loadModel", input, this.limitOf(modelKey));
  }

  async reloadAll(child: DeviceChild): Promise<void> {
    for (const [modelKey, model] of this.#models) await this.#reload(child, modelKey, model);
  }

  /**
   * Loads a model again; one that can no longer be loaded is forgotten and delays no other. Throws only where the
   * process died.
   */
  async #reload(child: DeviceChild, modelKey: string, model: LoadedModel): Promise<void> {
    try {
      this.noteLayouts(modelKey, (await this.load(child, modelKey, model)).layouts);
      model.fatalReloads = 0;
    } catch (error) {
      const { fatalReloads, isGivenUp } = judgeReload(model.fatalReloads, child.alive);
      model.fatalReloads = fatalReloads;
      if (isGivenUp) {
        this.#models.delete(modelKey);
        const reason = error instanceof Error ? error.message : String(error);
        this.#logger.error({ deviceKey: this.#deviceKey, modelKey, reason }, "model is given up");
      }
      if (!child.alive) throw error;
    }
  }
}

async function contentOf(file: ModelFile): Promise<string | ModelContent> {
  return "path" in file ? file.path : file.read();
}

/** The same where a path alone will not do. */
export async function readContent(file: ModelFile): Promise<ModelContent> {
  return "path" in file ? readFile(file.path) : file.read();
}
