import type { PlacedModel } from "../../protocol/link.ts";
import type { ArtifactCache } from "../memory/artifact-cache.ts";
import type { DeviceHost } from "../process/device-host.ts";

/** Brings models from the edge into the processes of devices, each once. */
export class ModelLoader {
  readonly #artifacts: ArtifactCache;
  readonly #loads = new Map<string, Promise<number>>();

  constructor(artifacts: ArtifactCache) {
    this.#artifacts = artifacts;
  }

  /** Milliseconds that loading took when it was done first; a failed load may be tried again. */
  ensureLoaded(model: PlacedModel, host: DeviceHost): Promise<number> {
    const key = `${host.device.key} ${model.modelVersionId}`;
    const known = this.#loads.get(key);
    if (known !== undefined) return known;
    const load = this.#load(model, host);
    this.#loads.set(key, load);
    load.catch(() => this.#loads.delete(key));
    return load;
  }

  async #load({ modelVersionId, digest }: PlacedModel, host: DeviceHost): Promise<number> {
    const path = await this.#artifacts.fetchPath(digest);
    const { loadMs } = await host.loadModel({ modelVersionId, path });
    return loadMs;
  }
}
