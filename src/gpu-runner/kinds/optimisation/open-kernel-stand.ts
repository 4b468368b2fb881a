import { KERNELS } from "../../../../kernels/registry.ts";
import { BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import type { JobSubject } from "../../../protocol/jobs/job-fields.ts";
import type { Candidate, OptimisationSpec } from "../../../protocol/jobs/optimisation.ts";
import { decodeSketch, sketchQuantile } from "../../../stats/distribution/sketch.ts";
import { benchmarkOnDevice } from "../steps/benchmark-on-device.ts";
import type { WorkloadContext } from "../kind.ts";
import { listKernelCandidates, shapeAt } from "./list-kernel-candidates.ts";
import type { TrialMeasurement, TrialStand } from "./search-problem.ts";

type KernelSubject = Extract<JobSubject, { kind: "kernel" }>;

/** Runs of one measurement. */
const RUNS = { warmup: 2, iterations: 20, timeoutMs: 60_000 } as const;

/**
 * Candidates for running a kernel.
 * A benchmark compares a candidate's outputs with the reference's, then times it by wall clock, run by run.
 * Throughput is in batch items a second, or in runs where the kernel counts no items.
 */
export async function openKernelStand(
  { space, targets, seed }: Pick<OptimisationSpec, "space" | "targets" | "seed">,
  subject: KernelSubject,
  context: WorkloadContext,
): Promise<TrialStand> {
  const places = context.fleet.all().flatMap(({ host: { device, kernels } }) => {
    const announced = kernels.find(({ name }) => name === subject.kernel);
    return announced === undefined ? [] : [{ device, variants: announced.variants }];
  });
  const { candidates, standing } = await listKernelCandidates(subject, space, places, seed);
  return {
    candidates,
    standing,
    eligible: candidates.length,
    inFlight: ({ maxRows }) => maxRows,
    measure: (index) => benchmarkCandidate(candidates[index]!, subject, targets.percentile, seed, context),
    close: async () => {},
  };
}

async function benchmarkCandidate(
  { deviceKey, variant, axes = {}, maxRows }: Candidate,
  subject: KernelSubject,
  percentile: number,
  seed: number,
  context: WorkloadContext,
): Promise<TrialMeasurement> {
  const { kernel, dtype } = subject;
  const batch = KERNELS.get(kernel)?.batchDimension === undefined ? 1 : maxRows;
  const spec = BenchmarkSpec.parse({
    kind: "benchmark",
    kernel,
    shape: shapeAt(subject, maxRows),
    variant,
    axes,
    seed,
    ...(dtype !== undefined && { dtype }),
    ...RUNS,
  });
  const quiet = { ...context, onProgress: () => {} };
  const { wallMs } = await benchmarkOnDevice(context.fleet.find(deviceKey), spec, quiet);
  return {
    throughputPerS: (batch * wallMs.count * 1_000) / wallMs.sum,
    p50Ms: wallMs.p50,
    latencyMs: sketchQuantile(decodeSketch(wallMs.sketch), percentile),
    memoryBytes: null,
    fidelity: null,
    queries: wallMs.count,
  };
}
