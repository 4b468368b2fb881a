import type { Backend } from "../../protocol/fleet/hardware.ts";
import type { PlacedModel } from "../../protocol/link.ts";
import { createSeededInputs } from "../../protocol/models/model-inputs.ts";
import { createId } from "../../protocol/wire/id.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import type { DeviceFleet } from "../serving/device-fleet.ts";
import type { ModelLoader } from "../serving/model-loader.ts";
import { modelKeyOf } from "../serving/queue/model-key.ts";

/** Variant of a model on a device that may receive requests. */
export interface WatchedPlacement {
  readonly model: PlacedModel;
  readonly variant: string;
  readonly deviceKey: string;
  readonly backend: Backend;
}

type Place = Pick<WatchedPlacement, "variant" | "deviceKey">;

/** Placements of this runner, from the edge and from later calibrations. */
export class WatchedPlacements {
  readonly #backendOf: (deviceKey: string) => Backend | undefined;
  readonly #placements = new Map<string, WatchedPlacement>();

  /** `backendOf` returns the backend for models on a device; undefined where this runner has none. */
  constructor(backendOf: (deviceKey: string) => Backend | undefined) {
    this.#backendOf = backendOf;
  }

  /** Replaces all placements after a new connection. */
  welcomed(placed: readonly PlacedModel[]): void {
    this.#placements.clear();
    this.configured(placed);
  }

  /** Updates some placements. */
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

  /** As many as fit a report. */
  all(): [key: string, WatchedPlacement][] {
    return [...this.#placements].slice(0, LIMITS.watchedPlacements);
  }
}

/** Longest wait of a probe for its turn; it is not urgent. */
const BUDGET_MS = 60_000;
const SEED = 1;

/** Times of a probe, without waiting. */
export interface ProbeTimes {
  readonly serviceMs: number;
  readonly computeMs: number;
}

/**
 * Prepared probe: requests one row of seeded inputs. Once the signal is aborted it does not begin, and fails with
 * `budget-exceeded`.
 */
export type PreparedProbe = (signal: AbortSignal) => Promise<ProbeTimes>;

/** Made once for a model: large ones would delay requests. */
const inputs = new WeakMap<PlacedModel, Tensor[]>();

/**
 * Waits until a placement can be probed. Fails like requests to it, and with `device-lost` while its device is down.
 */
export async function prepareProbe(
  { fleet, models }: { fleet: Pick<DeviceFleet, "find">; models: Pick<ModelLoader, "ensureReady"> },
  { model, variant, deviceKey }: WatchedPlacement,
): Promise<PreparedProbe> {
  const { host, server } = fleet.find(deviceKey);
  if (host.isDown) throw new ProblemError("device-lost", `The device ${deviceKey} is started again`);
  const served = { modelVersionId: model.modelVersionId, variant };
  const { configuration, tenant } = await models.ensureReady(served, host);
  const tensors = inputs.get(model) ?? createSeededInputs(model.inputs, SEED);
  inputs.set(model, tensors);
  const { threads } = configuration;
  return async (signal) => {
    const requestId = createId("request");
    const cancel = () => server.cancel(requestId);
    signal.addEventListener("abort", cancel, { once: true });
    const request = { ...served, requestId, threads, tenant, budgetMs: BUDGET_MS, isProbe: true, signal };
    // The signal outlives the probe, by days where no job arrives.
    const { times, faults } = await server
      .serve(request, tensors)
      .finally(() => signal.removeEventListener("abort", cancel));
    if (faults?.[0] !== undefined) throw new ProblemError("device-lost", faults[0].detail);
    const { uploadMs, computeMs, readbackMs } = times;
    return { serviceMs: uploadMs + computeMs + readbackMs, computeMs };
  };
}
