import type { CompressionResult, CompressionSpec } from "../../protocol/jobs/compression.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Workload } from "./kind.ts";
import { describeEnvironment } from "./steps/describe-run.ts";

/**
 * Makes a variant of a version in a process of its own and stores it as a file of the job.
 * Its quality is measured there, on the CPU provider.
 */
export const runCompression: Workload<CompressionSpec> = async (spec, context) => {
  const { fleet, model, residency, artifacts, otherJobs, signal, onProgress } = context;
  if (model === null) throw new ProblemError("backend-failed", "The offer did not name the model to compress.");
  const { host } = fleet.cpu;
  const environment = describeEnvironment(host.device, otherJobs);
  onProgress({ phase: "fetch", done: 0, total: 1 });
  const file = await residency.read(spec.digest);
  const data = spec.data === null ? null : await residency.read(spec.data.digest);
  const { recipe, name: variant, modelVersionId } = spec;
  const request = { file, inputs: model.inputs, recipe, data };
  const made = await fleet.use(fleet.cpu, () =>
    host.workApart("compress", request, spec.timeoutMs, "backend-failed", { signal, onProgress }),
  );
  const result: CompressionResult = {
    kind: "compression",
    model: `${spec.model}@${spec.version}`,
    modelVersionId,
    variant,
    recipe,
    chosenEnergy: made.chosenEnergy,
    calibration: made.calibration,
    parentBytes: file.byteLength,
    file: await artifacts.put("variant", made.file),
    changed: made.done.slice(0, LIMITS.compressedLayers).map(({ layer, operator, what }) => ({
      layer: layer.slice(0, 256),
      operator: operator.slice(0, 64),
      what: what.slice(0, 256),
    })),
    left: made.left.slice(0, LIMITS.compressedLayers).map(({ layer, operator, why }) => ({
      layer: layer.slice(0, 256),
      operator: operator.slice(0, 64),
      why: why.slice(0, 256),
    })),
    computation: made.computation,
    fidelity: made.fidelity,
    publication: null,
    environment,
  };
  return { result, deviceKey: host.device.key };
};
