import type { Backend } from "../../protocol/hardware.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { PlacedModel } from "../../protocol/link.ts";
import { modelKeyOf } from "../serving/model-key.ts";

/** A variant of a model on a device that requests may be sent to. */
export interface WatchedPlacement {
  readonly model: PlacedModel;
  readonly variant: string;
  readonly deviceKey: string;
  readonly backend: Backend;
}

type Place = Pick<WatchedPlacement, "variant" | "deviceKey">;

/** The placements of this runner, as the edge told of them and as it calibrated them since. */
export class WatchedPlacements {
  readonly #backendOf: (deviceKey: string) => Backend | undefined;
  readonly #placements = new Map<string, WatchedPlacement>();

  /** `backendOf` tells what executes models on a device; undefined where this runner has none that does. */
  constructor(backendOf: (deviceKey: string) => Backend | undefined) {
    this.#backendOf = backendOf;
  }

  /** What the edge says on a new connection: all that there are. */
  welcomed(placed: readonly PlacedModel[]): void {
    this.#placements.clear();
    this.configured(placed);
  }

  /** Some of them, as they are from now on. */
  configured(placed: readonly PlacedModel[]): void {
    for (const model of placed) this.add(model, model.places ?? []);
  }

  add(model: PlacedModel, places: readonly Place[]): void {
    for (const { deviceKey, variant } of places) {
      const backend = this.#backendOf(deviceKey);
      const key = `${deviceKey} ${modelKeyOf({ modelVersionId: model.modelVersionId, variant })}`;
      if (backend !== undefined) this.#placements.set(key, { model, variant, deviceKey, backend });
    }
  }

  /** As many as a report takes. */
  all(): [key: string, WatchedPlacement][] {
    return [...this.#placements].slice(0, LIMITS.watchedPlacements);
  }
}
