import type { TuningSpec } from "../../../protocol/jobs/tuning.ts";
import { DEFAULT_CONFIGURATION } from "../../../protocol/fleet/serving.ts";
import { countSizes, createSeededInputs } from "../../../protocol/models/model-inputs.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { TUNING_GRACE_MS } from "../../device-host/device-host.ts";
import type { FleetDevice } from "../../serving/device-fleet.ts";
import type { ServedVariant } from "../../serving/queue/model-key.ts";
import type { TunedNetwork } from "../../networks/tune-network.ts";
import type { WorkloadContext, WorkloadResult } from "../kind.ts";
import { describeEnvironment } from "../steps/describe-run.ts";

/**
 * Measures the layouts of a model in our own kernels anew, at each size that it declares, in a process of its own. Serving
 * has them afterwards: a loaded placement is loaded again, and any later load takes them.
 */
export async function tuneModel(spec: TuningSpec, context: WorkloadContext): Promise<WorkloadResult> {
  const { fleet, models, model, otherJobs, signal, onProgress } = context;
  if (model === null) throw new ProblemError("backend-failed", "The offer did not name the model to tune.");
  const { budgetMs, seed, variant = model.variants[0]!.name } = spec;
  const device = chooseDevice(context, { modelVersionId: model.modelVersionId, variant });
  const { host } = device;
  const environment = describeEnvironment(host.device, otherJobs);
  const startedAt = performance.now();
  const samples = Array.from({ length: countSizes(model.inputs) }, (_, size) =>
    createSeededInputs(model.inputs, seed, size),
  );
  let tuned: TunedNetwork = { sizes: [], sizesLeft: samples.length, layouts: {} };
  const retuned = await fleet.use(device, () =>
    models.retune(model, variant, host, async (file, layouts) => {
      const request = { model: file, samples, layouts, budgetMs };
      const limitMs = budgetMs + TUNING_GRACE_MS;
      tuned = await host.workApart("tuneNetwork", request, limitMs, "backend-failed", { signal, onProgress });
      return tuned.layouts;
    }),
  );
  const { sizes, sizesLeft } = tuned;
  const network = {
    model: spec.model ?? model.modelVersionId,
    modelVersionId: model.modelVersionId,
    variant,
    sizes,
    sizesLeft,
    ...retuned,
    budgetMs,
    spentMs: performance.now() - startedAt,
    tunedAt: new Date().toISOString(),
  };
  return { result: { kind: "tuning", network, cached: false, environment }, deviceKey: host.device.key };
}

/** The least busy device that serves models by our own kernels, of those that have this one loaded if there are any. */
function chooseDevice({ fleet, models }: WorkloadContext, served: ServedVariant): FleetDevice {
  const serving = fleet.all().filter(({ host: { device } }) => device.servesModels && device.backends.includes("wgsl"));
  const loaded = serving.filter(({ host }) => models.isLoaded(served, host, DEFAULT_CONFIGURATION));
  const [least] = (loaded.length > 0 ? loaded : serving).toSorted((a, b) => a.host.waiting - b.host.waiting);
  if (least === undefined) throw new ProblemError("backend-failed", "No device of this runner serves models by wgsl.");
  return least;
}
