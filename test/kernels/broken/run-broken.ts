/** Runs kernels that are broken in known ways and prints the problem of each as a line of JSON. */
import type { KernelSpec } from "../../../kernels/kernel-spec.ts";
import { benchmarkKernel } from "../../../src/gpu-runner/kernels/benchmark/benchmark-kernel.ts";
import { BufferPool } from "../../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { openGpu } from "../../../src/gpu-runner/devices/gpu/device.ts";
import { PipelineCache } from "../../../src/gpu-runner/devices/gpu/pipeline-cache.ts";
import { probeGpu } from "../../../src/gpu-runner/kernels/describe-gpu.ts";
import { BenchmarkSpec } from "../../../src/protocol/jobs/benchmark.ts";
import { toProblem } from "../../../src/protocol/wire/problem.ts";

function breakKernel(name: string, file: string, lanes = 1): KernelSpec<"n"> {
  return {
    name,
    description: "Writes ones, or should",
    folder: new URL(".", import.meta.url),
    dimensions: [{ name: "n", description: "Elements", min: 1, max: 2 ** 30, default: 64 }],
    dtypes: ["float32"],
    bindings: [{ name: "values", access: "write", dtype: "float32", extents: ({ n }) => [n], alignment: [1] }],
    variants: [
      {
        name: "only",
        file,
        axes: file === "forgets-last.wgsl" ? [{ name: "lanes", values: [lanes], default: lanes }] : [],
        passes: [{ entryPoint: "main", workgroups: ({ n }, axes) => [Math.ceil(n / (axes["lanes"] ?? 1)), 1, 1] }],
      },
    ],
    flops: () => 0,
    bytes: ({ n }) => 4 * n,
    tolerance: { relative: 0, absolute: () => 0, reason: "ones are exact" },
    generate: () => ({}),
    reference: (_, { n }) => ({ output: "values", length: n, elementFlops: 1, element: () => 1 }),
  };
}

const kernels: KernelSpec<"n">[] = [
  breakKernel("syntax", "does-not-compile.wgsl"),
  breakKernel("unwritten", "forgets-last.wgsl"),
  breakKernel("too-wide", "forgets-last.wgsl", 1_000_000),
  { ...breakKernel("too-demanding", "forgets-last.wgsl"), features: ["subgroups", "hovercraft"] },
];
const whole = breakKernel("whole", "forgets-none.wgsl");
const gpu = await openGpu((reason) => console.error(reason));
const { device } = gpu;
const context = { device, pipelines: new PipelineCache(device), pool: new BufferPool(device, 200_000) };
const target = {
  gpu,
  kernels: new Map([...kernels, whole].map((kernel: KernelSpec) => [kernel.name, kernel])),
  ...context,
  description: { ...(await probeGpu(gpu, context, "gpu0")), timestampQuantised: false },
};

async function attempt(kernel: string, shape: Record<string, number> = {}): Promise<void> {
  const phases: string[] = [];
  const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel, shape, warmup: 0, iterations: 2 });
  const options = {
    onProgress: ({ phase }: { phase: string }) => phases.push(phase),
    signal: new AbortController().signal,
  };
  const problem = await benchmarkKernel(target, spec, options).then(() => null, toProblem);
  console.log(JSON.stringify({ kernel, problem, phases, liveBytes: target.pool.counters.liveBytes }));
}

for (const { name } of kernels) await attempt(name);
await attempt("unwritten", { n: 2 ** 30 });
// Always other sizes: leaked buffers would pile up, since no collector frees a buffer.
for (let n = 1; n <= 40; n++) await attempt("whole", { n: 1_000 * n });
console.log(JSON.stringify({ counters: target.pool.counters }));
device.destroy();
