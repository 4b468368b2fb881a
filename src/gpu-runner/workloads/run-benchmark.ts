import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import type { Fault } from "../../protocol/fault.ts";
import { type ProblemCode, ProblemError } from "../../protocol/problem.ts";
import type { FleetDevice } from "../device-fleet.ts";
import { locateUnderRoof } from "../gpu/locate-under-roof.ts";
import { benchmarkOnDevice, withFaults } from "./benchmark-on-device.ts";
import { describeEnvironment } from "./describe-environment.ts";
import { findTuned } from "./find-tuned.ts";
import { spreadBenchmark } from "./spread-benchmark.ts";
import type { Workload, WorkloadContext, WorkloadResult } from "./workload.ts";
import { writeSamples } from "./write-samples.ts";

/** Problems of a device, behind which a reference may answer. */
const DEVICE_FAILURES: ReadonlySet<ProblemCode> = new Set([
  "device-lost",
  "kernel-timeout",
  "kernel-quarantined",
  "out-of-memory",
]);

/**
 * Checks and times a kernel on the device that is likely to be done first, or on several. Where the
 * device fails for good and the caller allows it, the f64 reference answers on the CPU.
 */
export const runBenchmark: Workload<BenchmarkSpec> = async (spec, context) => {
  const { fleet, program, userKernels } = context;
  // None is announced then; this holds whatever an edge believes.
  if (program !== null && !userKernels)
    throw new ProblemError("unknown-kernel", "This runner takes no kernels that users submitted.");
  const device = program === null ? fleet.withKernel(spec.kernel, spec) : fleet.forProgram(program, spec.deviceKey);
  try {
    return await fleet.use(device, () => runOn(device, spec, context));
  } catch (error) {
    if (spec.onDeviceFailure !== "cpu-reference" || context.signal.aborted) throw error;
    if (!(error instanceof ProblemError) || !DEVICE_FAILURES.has(error.problem.code)) throw error;
    const { code, detail } = error.problem;
    return runReference(spec, context, { code, detail, action: "cpu-reference" });
  }
};

/**
 * Runs a kernel tuned where that is known and wanted; a submitted one in a process of its own. Then it is
 * placed under the device's roofs, which are measured behind the first benchmark that wants them, so that
 * they disturb none. Several devices together have no roof.
 */
async function runOn(device: FleetDevice, spec: BenchmarkSpec, context: WorkloadContext): Promise<WorkloadResult> {
  const { tunings, program, rooflines, otherJobs, signal, onProgress } = context;
  const { host } = device;
  const environment = describeEnvironment(host.device, otherJobs);
  const isOpen = program === null && spec.tuned && spec.variant === undefined;
  const tuned = isOpen ? await findTuned(tunings, host.device, spec) : null;
  const run = spec.spread === true ? spreadBenchmark : benchmarkOnDevice;
  const { traceText, samples, ...measured } = await run(device, { ...spec, ...tuned }, context);
  const { roofline, missing } =
    measured.parts === undefined
      ? await rooflines.ensure(host, Date.now(), { onProgress, signal })
      : { roofline: null, missing: "Several devices ran it together" };
  const position = locateUnderRoof(measured, roofline, missing);
  const result = { kind: "benchmark", ...measured, tuned: tuned !== null, roofline: position, environment } as const;
  const samplesText = writeSamples(measured.kernel, [
    { metric: "wallMs", clock: "runner-wall", valuesMs: samples.wallMs },
    { metric: "gpuMs", clock: "gpu-timestamp", valuesMs: samples.gpuMs },
  ]);
  return { result, deviceKey: host.device.key, traceText, samplesText };
}

async function runReference(
  spec: BenchmarkSpec,
  { fleet, otherJobs, onProgress, signal }: WorkloadContext,
  fault: Fault,
): Promise<WorkloadResult> {
  const { host } = fleet.cpu;
  const environment = describeEnvironment(host.device, otherJobs);
  const options = { onProgress, signal };
  const measuring = host.workApart("reference", { spec }, spec.timeoutMs, "device-lost", options);
  const { traceText: _, samples: __, ...measured } = await measuring;
  const result = { ...withFaults(measured, [fault]), tuned: false, roofline: null, environment };
  return { result: { kind: "benchmark", ...result }, deviceKey: host.device.key };
}
