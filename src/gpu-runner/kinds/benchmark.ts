import type { KernelHealth } from "../../protocol/fleet/health.ts";
import type { BenchmarkResult, BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import type { Fault } from "../../protocol/wire/fault.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";
import type { BenchmarkMeasurement } from "../kernels/benchmark/benchmark-kernel.ts";
import { locateUnderRoof } from "../kernels/roofline/locate-under-roof.ts";
import type { FleetDevice } from "../serving/device-fleet.ts";
import { shareWork } from "../serving/share-work.ts";
import { benchmarkOnDevice, withFaults } from "./steps/benchmark-on-device.ts";
import type { Workload, WorkloadContext, WorkloadResult } from "./kind.ts";
import { describeEnvironment, writeSamples } from "./steps/describe-run.ts";
import { findTuned } from "./steps/find-tuned.ts";

/** Measurement of one device's share of a batch. */
export interface MeasuredPart {
  readonly deviceKey: string;
  readonly batch: number;
  readonly measured: BenchmarkMeasurement;
}

/**
 * Combined result of parts that ran at the same time: batch and rates are sums, errors the maximum.
 * Durations are those of the slowest part, since the whole waits for it.
 */
export function combineParts(parts: readonly MeasuredPart[], dimension: string): BenchmarkMeasurement {
  const slowest = parts.map(({ measured }) => measured).toSorted((a, b) => b.wallMs.p50 - a.wallMs.p50)[0];
  if (slowest === undefined) throw new TypeError("there are no parts");
  const checks = parts.map(({ measured }) => measured.correctness);
  const faults = parts.flatMap(({ measured }) => measured.faults ?? []);
  const sum = (of: (part: MeasuredPart) => number) => parts.reduce((total, part) => total + of(part), 0);
  return {
    ...slowest,
    shape: { ...slowest.shape, [dimension]: sum(({ batch }) => batch) },
    correctness: {
      ...slowest.correctness,
      checkedElements: sum(({ measured }) => measured.correctness.checkedElements),
      maxAbsoluteError: Math.max(...checks.map(({ maxAbsoluteError }) => maxAbsoluteError)),
      maxRelativeError: Math.max(...checks.map(({ maxRelativeError }) => maxRelativeError)),
    },
    // Counters are per device.
    counters: null,
    gflops: slowest.gflops === null ? null : sum(({ measured }) => measured.gflops ?? 0),
    gigabytesPerSecond: sum(({ measured }) => measured.gigabytesPerSecond),
    parts: parts.map(({ deviceKey, batch, measured }) => ({
      deviceKey,
      batch,
      p50Ms: measured.wallMs.p50,
      gigabytesPerSecond: measured.gigabytesPerSecond,
    })),
    ...(faults.length > 0 && { faults: faults.slice(0, LIMITS.faults) }),
  };
}

/**
 * Divides the batch over devices of one kind, in proportion to their recent speed with the kernel, and runs all shares
 * at once.
 * One failed share ends the others. Fails with `invalid-request` for a kernel without a batch.
 */
async function spreadBenchmark(
  device: FleetDevice,
  spec: BenchmarkSpec,
  context: WorkloadContext,
): Promise<BenchmarkMeasurement> {
  const { fleet } = context;
  const kernel = device.host.kernels.find(({ name }) => name === spec.kernel);
  const dimension = kernel?.dimensions.find(({ name }) => name === kernel.batchDimension);
  if (dimension === undefined) {
    const errors = [{ pointer: "#/spread", message: "needs a kernel with a batch" }];
    throw new ProblemError("invalid-request", `'${spec.kernel}' has no batch to divide`, { errors });
  }
  const batch = spec.shape[dimension.name] ?? dimension.default;
  const devices = fleet.alike(device, spec.kernel);
  const shares = shareWork(
    batch,
    devices.map((each) => fleet.speedOf(each, spec.kernel)),
  );
  const failed = new AbortController();
  const signal = AbortSignal.any([context.signal, failed.signal]);
  const running = devices.flatMap((each, index) => {
    const share = shares[index] ?? 0;
    if (share === 0) return [];
    const part = { ...spec, shape: { ...spec.shape, [dimension.name]: share } };
    return [
      benchmarkOnDevice(each, part, { ...context, signal }).then((measured) => ({
        deviceKey: each.host.device.key,
        batch: measured.shape[dimension.name] ?? share,
        measured,
      })),
    ];
  });
  try {
    return combineParts(await Promise.all(running), dimension.name);
  } catch (error) {
    failed.abort();
    await Promise.allSettled(running);
    throw error;
  }
}

/** Device problems after which the reference may answer instead. */
const DEVICE_FAILURES: ReadonlySet<ProblemCode> = new Set([
  "device-lost",
  "kernel-timeout",
  "kernel-quarantined",
  "out-of-memory",
]);

/**
 * Checks and times a kernel on the device that is likely to finish first, or on several.
 * Where the device fails for good and the caller allows it, the f64 reference answers on the CPU.
 */
export const runBenchmark: Workload<BenchmarkSpec> = async (spec, context) => {
  const { fleet, program, userKernels } = context;
  // Such a runner announces no submitted kernels; this check holds whatever an edge assumes.
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
 * Runs a kernel, tuned where a tuning is known and wanted; a submitted kernel runs in a process of its own.
 * The result is then placed under the device's roofs, except for several devices together.
 * Roofs are measured after the first benchmark that wants them, so that they disturb none.
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
  const result = { kind: spec.kind, ...measured, tuned: tuned !== null, roofline: position, environment } as const;
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
  return { result: { kind: spec.kind, ...result }, deviceKey: host.device.key };
}

/**
 * Health of a benchmark's kernel on its device; null after a run on several devices, or on the CPU in place of a failed
 * device.
 */
export function healthOfBenchmark(result: BenchmarkResult, at: string): KernelHealth | null {
  if (result.fallback !== undefined || result.parts !== undefined) return null;
  const { kernel, occupancy, roofline, gflops, gigabytesPerSecond, gpuMs, wallMs } = result;
  return {
    at,
    kernel,
    occupancyShare: occupancy?.share ?? null,
    bandwidthShare: shareOf(gigabytesPerSecond, roofline?.peakGigabytesPerSecond),
    arithmeticShare: shareOf(gflops, roofline?.peakGflops),
    submissionsPerSecond: null,
    synchronisationShare: gpuMs === null ? null : Math.max(0, 1 - gpuMs.p50 / wallMs.p50),
  };
}

function shareOf(value: number | null, peak: number | null | undefined): number | null {
  return value === null || peak === null || peak === undefined ? null : value / peak;
}
