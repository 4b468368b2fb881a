import {
  isKernelTuning,
  type KernelTuningSpec,
  tuningIdOf,
  type TuningResult,
  type TuningSpec,
} from "../../../protocol/jobs/tuning.ts";
import { TUNING_GRACE_MS, type WorkOptions } from "../../device-host/device-host.ts";
import type { FleetDevice } from "../../serving/device-fleet.ts";
import { withFaults } from "../steps/benchmark-on-device.ts";
import type { Workload, WorkloadContext, WorkloadResult } from "../kind.ts";
import { describeEnvironment } from "../steps/describe-run.ts";
import { describeTuningKey } from "../steps/find-tuned.ts";
import { tuneModel } from "./tune-model.ts";

/**
 * Finds a kernel's fastest variant and axes on the device that has it, or returns a known tuning; or measures the layouts
 * of a model anew.
 */
export const runTuning: Workload<TuningSpec> = async (spec, context) => {
  if (!isKernelTuning(spec)) return tuneModel(spec, context);
  const device = context.fleet.withKernel(spec.kernel);
  return context.fleet.use(device, () => tuneOn(device, spec, context));
};

async function tuneOn(
  { host }: FleetDevice,
  spec: KernelTuningSpec,
  { fleet, tunings, otherJobs, signal, onProgress, scope }: WorkloadContext,
): Promise<WorkloadResult> {
  const { device } = host;
  const environment = describeEnvironment(device, otherJobs);
  const key = await describeTuningKey(device, spec);
  const known = key === null || spec.fresh ? null : await tunings.find(await tuningIdOf(key));
  if (known !== null) {
    return { result: { kind: "tuning", ...known, cached: true, environment }, deviceKey: device.key };
  }
  const run = (options: WorkOptions) => host.tune(spec, options);
  // A search ends by itself: only one silent for this long beyond its budget times out.
  const work = { kernel: spec.kernel, timeoutMs: TUNING_GRACE_MS, signal, onProgress, scope, run };
  const { output: found, faults } = await fleet.guard.run(host, work);
  const { fingerprint, name: deviceName, software } = device;
  const tuning = { ...found.tuning, fingerprint, deviceName, software, tunedAt: new Date().toISOString() };
  const record = { tuning, trials: found.trials };
  await tunings.save(await tuningIdOf(tuning), record);
  const result: TuningResult = { kind: "tuning", ...record, cached: false, environment };
  return { result: withFaults(result, faults), deviceKey: device.key };
}
