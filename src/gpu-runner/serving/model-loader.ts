import type { Logger } from "pino";
import type { PlacedModel } from "../../protocol/link.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { ResidencyManager } from "../memory/residency-manager.ts";
import type { DeviceHost } from "../process/device-host.ts";
import { modelKeyOf, type ServedVariant } from "./model-key.ts";
import { proveRows } from "./prove-rows.ts";

/** What a load found out: how long it took, and whether requests may share a batch. */
interface Loaded {
  readonly loadMs: number;
  readonly joins: boolean;
}

interface Load {
  readonly modelKey: string;
  readonly loaded: Promise<Loaded>;
}

/** Brings models from the edge into the processes of devices, each once. */
export class ModelLoader {
  readonly #residency: Pick<ResidencyManager, "keep" | "read">;
  readonly #logger: Pick<Logger, "warn">;
  /** By device, version and variant. */
  readonly #loads = new Map<string, Load>();
  /** Every model that was ever loaded or is to be kept warm, by version. */
  readonly #known = new Map<string, PlacedModel>();

  constructor(residency: Pick<ResidencyManager, "keep" | "read">, logger: Pick<Logger, "warn">) {
    this.#residency = residency;
    this.#logger = logger;
  }

  /** Milliseconds that loading took when it was done first; a failed load may be tried again. */
  async ensureLoaded(model: PlacedModel, variant: string, host: DeviceHost): Promise<number> {
    return (await this.#ensureLoaded(model, variant, host)).loadMs;
  }

  /**
   * Waits until a model can take requests, and says whether they may share a batch. Throws `no-placement`
   * where this runner does not have it.
   */
  async ensureReady({ modelVersionId, variant }: ServedVariant, host: DeviceHost): Promise<Pick<Loaded, "joins">> {
    const model = this.#known.get(modelVersionId);
    if (model === undefined) throw new ProblemError("no-placement", "This runner does not have the model now.");
    return this.#ensureLoaded(model, variant, host);
  }

  #ensureLoaded(model: PlacedModel, variant: string, host: DeviceHost): Promise<Loaded> {
    this.#known.set(model.modelVersionId, model);
    const modelKey = modelKeyOf({ modelVersionId: model.modelVersionId, variant });
    const key = `${host.device.key} ${modelKey}`;
    const begun = this.#loads.get(key);
    if (begun !== undefined) return begun.loaded;
    const load = { modelKey, loaded: this.#load(model, variant, host) };
    this.#loads.set(key, load);
    load.loaded.catch(() => {
      // Meanwhile it may have been unloaded, and another load begun.
      if (this.#loads.get(key) === load) this.#loads.delete(key);
    });
    return load.loaded;
  }

  /** What is known of a version; null where this runner does not have it. */
  find(modelVersionId: string): PlacedModel | null {
    return this.#known.get(modelVersionId) ?? null;
  }

  /** Forgets the loads of a model that its process turned out not to have: the next request loads it again. */
  noteFailure(served: ServedVariant, error: unknown): void {
    if (!(error instanceof ProblemError) || error.problem.code !== "not-found") return;
    for (const [key, { modelKey }] of this.#loads) if (modelKey === modelKeyOf(served)) this.#loads.delete(key);
  }

  /** Frees a model of a device; the next request or calibration that wants it there loads it again. */
  async unload(served: ServedVariant, host: DeviceHost): Promise<void> {
    const modelKey = modelKeyOf(served);
    this.#loads.delete(`${host.device.key} ${modelKey}`);
    await host.unloadModel(modelKey);
  }

  async #load(model: PlacedModel, variant: string, host: DeviceHost): Promise<Loaded> {
    const digest = model.variants.find(({ name }) => name === variant)?.digest;
    if (digest === undefined)
      throw new ProblemError("no-placement", `This runner does not have the variant ${variant}.`);
    this.#residency.keep(digest);
    const modelKey = modelKeyOf({ modelVersionId: model.modelVersionId, variant });
    const { loadMs } = await host.loadModel({ modelKey, read: () => this.#residency.read(digest) });
    return { loadMs, joins: await proveRows(modelKey, model, host, this.#logger) };
  }
}
