import type { ValidationSpec } from "../../protocol/validation.ts";
import { describeEnvironment } from "../workloads/describe-environment.ts";
import type { WorkloadContext, WorkloadResult } from "../workloads/workload.ts";
import { concludeValidation } from "./conclude-validation.ts";
import { type KernelSubject, openKernelSystem } from "./open-kernel-system.ts";
import { runScenarios } from "./run-scenarios.ts";
import { watchResidentSet } from "./watch-resident-set.ts";

const SIMD = "cpu-simd";

/** Validates a kernel on the device that has it, by `endMs` of the monotonic clock. */
export async function validateKernel(
  spec: ValidationSpec,
  subject: KernelSubject,
  endMs: number,
  context: WorkloadContext,
): Promise<WorkloadResult> {
  const { fleet, otherJobs, signal } = context;
  const system = await openKernelSystem(context, subject, spec.deviceKey ?? null);
  try {
    const { deviceKey, variant, startup, gpuBytes } = system;
    const device = fleet.find(deviceKey);
    const environment = describeEnvironment(device.host.device, otherJobs);
    const watched = await watchResidentSet(device.host, signal);
    const run = () => runScenarios(spec, async () => system, endMs, context);
    const runs = await fleet.use(device, run).finally(watched.stop);
    const { peakBytes, grownBytes } = await watched.stop();
    const isSimd = variant === SIMD;
    return concludeValidation(spec, runs, {
      place: { deviceKey, backend: isSimd ? SIMD : "wgsl", variant, placementId: null, configuration: null },
      startup,
      memory: { hostPeakBytes: peakBytes, hostGrownBytes: grownBytes, gpuPeakBytes: isSimd ? 0 : gpuBytes },
      artifactBytes: null,
      fidelity: null,
      environment,
    });
  } finally {
    await system.close();
  }
}
