import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import { ortGpuBackendOf } from "../../protocol/fleet/hardware.ts";
import type { NodePlaces } from "../../protocol/jobs/calibration.ts";
import type { PlacedModel } from "../../protocol/link.ts";
import type { NetworkLayouts } from "../../protocol/models/network-layout.ts";
import { type Problem, ProblemError, toProblem } from "../../protocol/wire/problem.ts";
import { MODEL_FILE, type ModelFile } from "../../protocol/models/upload.ts";
import { createSeededInputs } from "../../protocol/models/model-inputs.ts";
import { DEFAULT_CONFIGURATION, type ServingConfiguration } from "../../protocol/fleet/serving.ts";
import type { FleetDevice } from "./device-fleet.ts";
import type { LayoutStore } from "../memory/layout-store.ts";
import type { ResidencyManager } from "../memory/residency-manager.ts";
import type { DeviceHost } from "../device-host/device-host.ts";
import type { ModelContent } from "../devices/ort/model-paths.ts";
import { modelKeyOf, type ServedVariant } from "./queue/model-key.ts";
import { proveRows } from "./prove-rows.ts";

/** Result of a load: its duration, and whether requests may share a batch. */
interface Loaded {
  readonly loadMs: number;
  readonly joins: boolean;
}

/** Serving settings of a model's requests. */
export interface Readiness extends Pick<Loaded, "joins">, Pick<PlacedModel, "tenant"> {
  readonly configuration: ServingConfiguration;
}

/** Model that stays loaded at least until its release. */
export interface BorrowedModel extends Loaded {
  /** Key of the model in the device's process. */
  readonly modelKey: string;
  readonly release: () => Promise<void>;
}

/** Whether a loaded model serves by new layouts, and why not where it could not be loaded again. */
interface Retuned {
  readonly reloaded: boolean;
  readonly reloadProblem?: Problem;
}

interface Load {
  readonly served: ServedVariant;
  readonly loaded: Promise<Loaded>;
  borrowers: number;
  /** Whether it stays without borrowers. */
  isKept: boolean;
}

/**
 * Loads models from the edge into the processes of devices, each once per number of threads. Requests are served under
 * the configuration that the edge sent for their placement; others may be borrowed beside it.
 */
export class ModelLoader {
  readonly #residency: Pick<ResidencyManager, "keep" | "read">;
  readonly #logger: Pick<Logger, "warn">;
  readonly #layouts: Pick<LayoutStore, "find" | "save" | "remove"> | null;
  /** By device and model key. */
  readonly #loads = new Map<string, Load>();
  /** Every model that was ever loaded or is to be kept warm, by version. */
  readonly #known = new Map<string, PlacedModel>();
  /** Current and intended configurations, by device, version and variant. */
  readonly #configurations = new Map<string, ServingConfiguration>();
  readonly #wanted = new Map<string, ServingConfiguration>();

  /** Without `layouts`, our kernels measure theirs at every load. */
  constructor(
    residency: Pick<ResidencyManager, "keep" | "read">,
    logger: Pick<Logger, "warn">,
    layouts: Pick<LayoutStore, "find" | "save" | "remove"> | null = null,
  ) {
    this.#residency = residency;
    this.#logger = logger;
    this.#layouts = layouts;
  }

  /**
   * Waits until a model can take requests, and returns its serving settings: those of its placement by default. Throws
   * `no-placement` where this runner does not have it.
   */
  async ensureReady(
    served: ServedVariant,
    host: DeviceHost,
    configuration = this.configurationOf(served, host),
  ): Promise<Readiness> {
    const model = this.#known.get(served.modelVersionId);
    if (model === undefined) throw new ProblemError("no-placement", "This runner does not have the model now.");
    const { joins } = await this.#keep(model, served.variant, host, configuration);
    return { joins, configuration, tenant: model.tenant };
  }

  /** Loads a model temporarily, unless it is loaded. The borrower must release it, even after a later failure. */
  async borrow(
    model: PlacedModel,
    variant: string,
    host: DeviceHost,
    configuration: ServingConfiguration,
  ): Promise<BorrowedModel> {
    const load = this.#begin(model, variant, host, configuration);
    load.borrowers++;
    const modelKey = modelKeyOf({ ...load.served, ...configuration });
    let isReleased = false;
    const release = async () => {
      if (isReleased) return;
      isReleased = true;
      load.borrowers--;
      await this.#freeUnused(load, modelKey, host);
    };
    try {
      return { ...(await load.loaded), modelKey, release };
    } catch (error) {
      load.borrowers--;
      throw error;
    }
  }

  /**
   * Loads and runs a variant in a process of its own, unless it is loaded on the device already and cannot have fallen
   * back to the CPU there. A hang, a crash or memory exhaustion then occurs away from serving processes. Returns where its
   * nodes ran, as far as that may differ. Fails like `DeviceHost.tryModel`.
   */
  async tryApart(
    model: PlacedModel,
    variant: string,
    host: DeviceHost,
    configuration: ServingConfiguration,
    signal: AbortSignal,
  ): Promise<NodePlaces | null> {
    const isKnown = this.isLoaded({ modelVersionId: model.modelVersionId, variant }, host, configuration);
    if (isKnown && ortGpuBackendOf(host.device) === undefined) return null;
    return host.tryModel(await this.#read(model, variant), createSeededInputs(model.inputs, 1), {
      threads: configuration.threads,
      signal,
    });
  }

  /** Whether a variant is loaded on a device, or being loaded. */
  isLoaded(served: ServedVariant, host: DeviceHost, configuration: ServingConfiguration): boolean {
    return this.#find(served, host, configuration) !== undefined;
  }

  /**
   * Lets `measure` find layouts of a variant in our own kernels on a device from its file and the layouts that serving has,
   * keeps them, and loads the variant again where it is loaded in others: the one before answers until then, and stays
   * where that fails.
   */
  async retune(
    model: PlacedModel,
    variant: string,
    host: DeviceHost,
    measure: (file: ModelContent, layouts: NetworkLayouts) => Promise<NetworkLayouts>,
  ): Promise<Retuned> {
    const { digest } = findVariant(model, variant);
    const { fingerprint } = host.device;
    const file = await this.#read(model, variant);
    const tuned = await measure(file, this.#layouts?.find(digest, fingerprint) ?? {});
    // A load that began before keeps the layouts that it measures, and would replace these.
    await this.#settle(modelKeyOf({ modelVersionId: model.modelVersionId, variant, threads: 1 }), host);
    await this.#layouts?.save(digest, fingerprint, tuned);
    return this.#reload(model, variant, host, tuned);
  }

  /** Current configuration of a variant on a device. */
  configurationOf(served: ServedVariant, host: DeviceHost): ServingConfiguration {
    return this.#configurations.get(placeKeyOf(served, host)) ?? DEFAULT_CONFIGURATION;
  }

  /**
   * Switches a variant on a device to another configuration. It is loaded, then requests go there, then the previous
   * one is freed once its running requests are answered. Where loading fails this throws, and the previous one stays.
   * Of several at once the last one counts.
   */
  async configure(
    model: PlacedModel,
    variant: string,
    { host, server }: Pick<FleetDevice, "host" | "server">,
    configuration: ServingConfiguration,
  ): Promise<void> {
    const served = { modelVersionId: model.modelVersionId, variant };
    const place = placeKeyOf(served, host);
    this.#wanted.set(place, configuration);
    const before = this.configurationOf(served, host);
    // Where nothing is served yet, arriving requests wait for the new configuration.
    if (this.#find(served, host, before) === undefined) this.#configurations.set(place, configuration);
    await this.#keep(model, variant, host, configuration);
    const isLast = this.#wanted.get(place) === configuration;
    if (isLast) this.#configurations.set(place, configuration);
    const left = isLast ? before : configuration;
    const load = this.#find(served, host, left);
    // The current and the next configuration may use the same file under other caps.
    const stays = [this.configurationOf(served, host), this.#wanted.get(place)];
    if (load === undefined || stays.some((each) => each?.threads === left.threads)) return;
    load.isKept = false;
    const modelKey = modelKeyOf({ ...served, ...left });
    // Waiting requests go to the queue next.
    await load.loaded.catch(() => {});
    await server.settled(modelKey);
    await this.#freeUnused(load, modelKey, host);
  }

  /**
   * Configures likewise, where the edge has not configured the placement yet: it is served as it was first measured.
   */
  async adopt(...place: Parameters<ModelLoader["configure"]>): Promise<void> {
    const [{ modelVersionId }, variant, { host }] = place;
    if (!this.#wanted.has(placeKeyOf({ modelVersionId, variant }, host))) await this.configure(...place);
  }

  /** Known version; null where this runner does not have it. */
  find(modelVersionId: string): PlacedModel | null {
    return this.#known.get(modelVersionId) ?? null;
  }

  /** Forgets the loads of a model that its process does not have: the next request loads it again. */
  noteFailure({ modelVersionId, variant }: ServedVariant, error: unknown): void {
    if (!(error instanceof ProblemError) || error.problem.code !== "not-found") return;
    for (const [key, { served }] of this.#loads) {
      if (served.modelVersionId === modelVersionId && served.variant === variant) this.#loads.delete(key);
    }
  }

  /**
   * Frees a model on a device, at once or at its last borrower's release; the next request or calibration there loads
   * it again.
   */
  async unload(
    served: ServedVariant,
    host: DeviceHost,
    configuration = this.configurationOf(served, host),
  ): Promise<void> {
    const modelKey = modelKeyOf({ ...served, ...configuration });
    const load = this.#find(served, host, configuration);
    if (load !== undefined && load.borrowers > 0) {
      load.isKept = false;
      return;
    }
    this.#loads.delete(loadKeyOf(modelKey, host));
    await host.unloadModel(modelKey);
  }

  #keep(model: PlacedModel, variant: string, host: DeviceHost, configuration: ServingConfiguration): Promise<Loaded> {
    const load = this.#begin(model, variant, host, configuration);
    load.isKept = true;
    return load.loaded;
  }

  #find(served: ServedVariant, host: DeviceHost, configuration: ServingConfiguration): Load | undefined {
    return this.#loads.get(loadKeyOf(modelKeyOf({ ...served, ...configuration }), host));
  }

  #begin(model: PlacedModel, variant: string, host: DeviceHost, { threads }: ServingConfiguration): Load {
    this.#known.set(model.modelVersionId, model);
    const served = { modelVersionId: model.modelVersionId, variant };
    const key = loadKeyOf(modelKeyOf({ ...served, threads }), host);
    const begun = this.#loads.get(key);
    if (begun !== undefined) return begun;
    const load = { served, loaded: this.#load(model, variant, host, threads), borrowers: 0, isKept: false };
    this.#loads.set(key, load);
    load.loaded.catch(() => {
      // Meanwhile it may have been unloaded, and another load begun.
      if (this.#loads.get(key) === load) this.#loads.delete(key);
    });
    return load;
  }

  async #freeUnused(load: Load, modelKey: string, host: DeviceHost): Promise<void> {
    await load.loaded.catch(() => {});
    const key = loadKeyOf(modelKey, host);
    if (load.borrowers > 0 || load.isKept || this.#loads.get(key) !== load) return;
    this.#loads.delete(key);
    await host.unloadModel(modelKey);
  }

  async #read(model: PlacedModel, variant: string): Promise<ModelContent> {
    const { digest, files } = findVariant(model, variant);
    if (files !== undefined) checkMemory(files);
    return this.#residency.read(digest, files);
  }

  async #load(model: PlacedModel, variant: string, host: DeviceHost, threads: number): Promise<Loaded> {
    const { digest, files } = findVariant(model, variant);
    if (files === undefined) this.#residency.keep(digest);
    const { fingerprint } = host.device;
    const known = this.#layouts?.find(digest, fingerprint) ?? {};
    const { loadMs } = await this.#open(model, variant, host, threads, known).catch(async (error: unknown) => {
      // A newer driver or release may fail with what was measured before.
      const mayBeLayout =
        error instanceof ProblemError && ["kernel-invalid", "backend-failed"].includes(error.problem.code);
      if (Object.keys(known).length === 0 || !mayBeLayout) throw error;
      await this.#layouts?.remove(digest, fingerprint);
      return this.#open(model, variant, host, threads, {});
    });
    const modelKey = modelKeyOf({ modelVersionId: model.modelVersionId, variant, threads });
    return { loadMs, joins: await proveRows(modelKey, model, host, this.#logger) };
  }

  /** Loads a variant in these layouts, and keeps those that it measures. */
  #open(
    model: PlacedModel,
    variant: string,
    host: DeviceHost,
    threads: number,
    layouts: NetworkLayouts,
  ): Promise<{ loadMs: number }> {
    const { digest } = findVariant(model, variant);
    return host.loadModel({
      modelKey: modelKeyOf({ modelVersionId: model.modelVersionId, variant, threads }),
      threads,
      layouts,
      onChosen: (chosen) => void this.#layouts?.save(digest, host.device.fingerprint, chosen),
      read: () => this.#read(model, variant),
    });
  }

  /** Waits until no load under a key is under way, whether it succeeds or fails. */
  async #settle(modelKey: string, host: DeviceHost): Promise<void> {
    const key = loadKeyOf(modelKey, host);
    const load = this.#loads.get(key);
    await load?.loaded.catch(() => {});
    // Meanwhile it may have been unloaded, and another load begun.
    if (this.#loads.get(key) !== load) await this.#settle(modelKey, host);
  }

  /** Loads a variant again where it is loaded without these layouts. */
  async #reload(model: PlacedModel, variant: string, host: DeviceHost, tuned: NetworkLayouts): Promise<Retuned> {
    const modelKey = modelKeyOf({ modelVersionId: model.modelVersionId, variant, threads: 1 });
    const place = loadKeyOf(modelKey, host);
    const load = this.#loads.get(place);
    if (load === undefined) return { reloaded: false };
    try {
      await load.loaded;
      const served = host.layoutsOf(modelKey);
      if (Object.entries(tuned).every(([sizes, layout]) => isDeepStrictEqual(layout, served[sizes]))) {
        return { reloaded: true };
      }
      await this.#open(model, variant, host, 1, { ...served, ...tuned });
      // Another load may have begun meanwhile, whose model this now is.
      const isWanted = this.#loads.get(place) !== undefined;
      await (isWanted ? proveRows(modelKey, model, host, this.#logger) : host.unloadModel(modelKey));
      return { reloaded: isWanted };
    } catch (error) {
      return { reloaded: false, reloadProblem: toProblem(error) };
    }
  }
}

/** Share of the free memory that loading a model may take. */
const MEMORY_SHARE = 0.9;

/**
 * Throws `out-of-memory` where a large model will not fit: the runtime has the graph's file twice while it reads it, and
 * weights of other files as it packs them.
 */
function checkMemory(files: readonly ModelFile[]): void {
  const neededBytes = files.reduce((sum, { name, sizeBytes }) => sum + (name === MODEL_FILE ? 2 : 1) * sizeBytes, 0);
  const freeBytes = Math.floor(process.availableMemory() * MEMORY_SHARE);
  if (neededBytes <= freeBytes) return;
  const detail = `The model takes about ${neededBytes} bytes of memory to be loaded, and ${freeBytes} are free on this runner.`;
  throw new ProblemError("out-of-memory", detail);
}

function findVariant({ variants }: PlacedModel, variant: string): PlacedModel["variants"][number] {
  const found = variants.find(({ name }) => name === variant);
  if (found === undefined) throw new ProblemError("no-placement", `This runner does not have the variant ${variant}.`);
  return found;
}

function loadKeyOf(modelKey: string, host: DeviceHost): string {
  return `${host.device.key} ${modelKey}`;
}

function placeKeyOf(served: ServedVariant, host: DeviceHost): string {
  return loadKeyOf(modelKeyOf(served), host);
}
