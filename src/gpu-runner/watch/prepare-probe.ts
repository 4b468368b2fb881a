import { createId } from "../../protocol/id.ts";
import type { PlacedModel } from "../../protocol/link.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { createSeededInputs } from "../../protocol/seeded-inputs.ts";
import type { Tensor } from "../../protocol/tensor.ts";
import type { DeviceFleet } from "../device-fleet.ts";
import type { ModelLoader } from "../serving/model-loader.ts";
import type { WatchedPlacement } from "./watched-placements.ts";

/** So long a probe may wait for its turn; it has nowhere to be. */
const BUDGET_MS = 60_000;
const SEED = 1;

/** What a probe took, without waiting. */
export interface ProbeTimes {
  readonly serviceMs: number;
  readonly computeMs: number;
}

/** A probe that is ready: asks for one row of seeded inputs. Once the signal is aborted it is not begun any more, and fails with `budget-exceeded`. */
export type PreparedProbe = (signal: AbortSignal) => Promise<ProbeTimes>;

/** Made once for a model: large ones would hold up requests. */
const inputs = new WeakMap<PlacedModel, Tensor[]>();

/** Waits until a placement can be probed. Fails as requests to it do, and with `device-lost` while its device is down. */
export async function prepareProbe(
  { fleet, models }: { fleet: Pick<DeviceFleet, "find">; models: Pick<ModelLoader, "ensureReady"> },
  { model, variant, deviceKey }: WatchedPlacement,
): Promise<PreparedProbe> {
  const { host, server } = fleet.find(deviceKey);
  if (host.isDown) throw new ProblemError("device-lost", `The device ${deviceKey} is started again`);
  const served = { modelVersionId: model.modelVersionId, variant };
  const { configuration } = await models.ensureReady(served, host);
  const tensors = inputs.get(model) ?? createSeededInputs(model.inputs, SEED);
  inputs.set(model, tensors);
  const { threads } = configuration;
  return async (signal) => {
    const requestId = createId("request");
    const cancel = () => server.cancel(requestId);
    signal.addEventListener("abort", cancel, { once: true });
    const request = { ...served, requestId, threads, budgetMs: BUDGET_MS, isProbe: true, signal };
    // The signal outlives the probe, by days where no job comes.
    const { times, faults } = await server
      .serve(request, tensors)
      .finally(() => signal.removeEventListener("abort", cancel));
    if (faults?.[0] !== undefined) throw new ProblemError("device-lost", faults[0].detail);
    const { uploadMs, computeMs, readbackMs } = times;
    return { serviceMs: uploadMs + computeMs + readbackMs, computeMs };
  };
}
