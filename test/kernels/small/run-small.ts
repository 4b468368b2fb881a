/** Runs kernels on a device with small limits, and prints each outcome as a line of JSON. */
import type { KernelSpec } from "../../../kernels/kernel-spec.ts";
import { KERNELS } from "../../../kernels/registry.ts";
import { triad } from "../../../kernels/triad/triad.kernel.ts";
import { benchmarkKernel } from "../../../src/gpu-runner/kernels/benchmark/benchmark-kernel.ts";
import { BufferPool } from "../../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { openGpu, readLimits } from "../../../src/gpu-runner/devices/gpu/device.ts";
import { raiseClocks } from "../../../src/gpu-runner/kernels/benchmark/raise-clocks.ts";
import { findPeak } from "../../../src/gpu-runner/kernels/roofline/find-peak.ts";
import { benchmarkWithinMemory } from "../../../src/gpu-runner/kernels/benchmark/fit-batch.ts";
import { PipelineCache } from "../../../src/gpu-runner/devices/gpu/pipeline-cache.ts";
import { probeGpu } from "../../../src/gpu-runner/kernels/describe-gpu.ts";
import { BenchmarkSpec } from "../../../src/protocol/jobs/benchmark.ts";
import { ProblemError, toProblem } from "../../../src/protocol/wire/problem.ts";

const KiB = 1_024;

const gpu = await openGpu((reason) => console.error(reason));
const { device } = gpu;
const limits = { ...readLimits(device.limits), maxStorageBufferBindingSize: 256 * KiB };
const roomy = { device, pipelines: new PipelineCache(device), pool: new BufferPool(device) };
const description = { ...(await probeGpu(gpu, roomy, "gpu0")), timestampQuantised: false };
const traffic = { dispatches: 0, uploadedBytes: 0, readBackBytes: 0 };
const target = { gpu, kernels: KERNELS, description, traffic, ...roomy };
const { signal } = new AbortController();
const options = { onProgress: () => {}, signal };

const specOf = (kernel: string, shape: Record<string, number>) =>
  BenchmarkSpec.parse({ kind: "benchmark", kernel, shape, warmup: 0, iterations: 2 });

/** Methods of an object whose class is the driver's own. */
function methodsOf<Of extends object>(object: Of): Partial<Of> {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(object)))
    .filter(([name, { value }]) => name !== "constructor" && typeof value === "function")
    .map(([name, { value }]) => [name, value.bind(object)] as const);
  return Object.fromEntries(methods) as Partial<Of>;
}

/** A driver out of memory, before which a cap would have refused. */
class RefusingPool extends BufferPool {
  override acquire(sizeBytes: number, usage: GPUBufferUsageFlags): GPUBuffer {
    if (sizeBytes > 16 * KiB) throw new ProblemError("out-of-memory", "The driver has no more");
    return super.acquire(sizeBytes, usage);
  }
}

const refusing = new RefusingPool(device);
const search = {
  kernel: triad as KernelSpec,
  shapes: [{ n: 2 ** 10 }, { n: 2 ** 12 }, { n: 2 ** 14 }],
  axes: [{ lanes: 64 }],
  longEnoughMs: Number.POSITIVE_INFINITY,
  work: ({ n = 0 }) => n,
} as const;
const peak = await findPeak({ ...target, pool: refusing }, search, performance.now() + 60_000, signal);
console.log(JSON.stringify({ shape: peak.shape, liveBytes: refusing.counters.liveBytes }));

const [variant] = triad.variants;
const passes = [variant.passes[0], { entryPoint: "main", workgroups: () => [0, 1, 1] }];
const halfEmpty = { ...triad, name: "half-empty", variants: [{ ...variant, passes }] } as unknown as KernelSpec;
const { counters } = await benchmarkKernel(
  { ...target, kernels: new Map([[halfEmpty.name, halfEmpty]]) },
  specOf("half-empty", { n: 64 }),
  options,
);
console.log(JSON.stringify({ dispatches: counters?.dispatches }));

// The same device, which says that it is none of an emulation, and counts what it gets.
let submitted = 0;
const queue = {
  ...methodsOf(device.queue),
  submit(work: GPUCommandBuffer[]) {
    submitted++;
    device.queue.submit(work);
  },
};
const real = { ...methodsOf(device), queue, adapterInfo: { isFallbackAdapter: false } } as unknown as GPUDevice;
await raiseClocks(real, signal);
const first = submitted;
await raiseClocks(real, signal);
await raiseClocks(device, signal);
console.log(JSON.stringify({ raised: first > 0, again: submitted - first }));

// Whole, 1,024 rows of 1 KiB need 1 MiB in and 1 MiB out; a part has 256 of them.
Object.defineProperty(device, "limits", { value: limits });
const problem = await benchmarkWithinMemory(
  { ...target, pool: new BufferPool(device, undefined, 1_792 * KiB) },
  specOf("softmax", { rows: 1_024, columns: 256 }),
  options,
).then(() => null, toProblem);
console.log(JSON.stringify({ problem }));
device.destroy();
