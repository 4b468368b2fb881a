/** Tunes a kernel whose candidates are slow, wrong, broken and right, and prints each outcome as a line of JSON. */
import type { KernelSpec, KernelVariant } from "../../../kernels/kernel-spec.ts";
import { BufferPool } from "../../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { openGpu } from "../../../src/gpu-runner/devices/gpu/device.ts";
import { probeGpu } from "../../../src/gpu-runner/kernels/describe-gpu.ts";
import { PipelineCache } from "../../../src/gpu-runner/devices/gpu/pipeline-cache.ts";
import { tuneKernel } from "../../../src/gpu-runner/kernels/tuning/tune-kernel.ts";
import type { JobProgress } from "../../../src/protocol/jobs/job.ts";
import { toProblem } from "../../../src/protocol/wire/problem.ts";
import { KernelTuningSpec } from "../../../src/protocol/jobs/tuning.ts";

const variant = (name: string, file: string, axes: KernelVariant["axes"]): KernelVariant<"n"> => ({
  name,
  file,
  axes,
  passes: [{ entryPoint: "main", workgroups: ({ n }, { lanes = 1 }) => [Math.ceil(n / lanes), 1, 1] }],
});

const spinning = variant("spinning", "tuned/spinning.wgsl", [
  { name: "lanes", values: [16, 2 ** 20], default: 16 },
  { name: "turns", values: [1, 20_000], default: 20_000 },
]);
/** Does the least, and so would win if it were not wrong. */
const forgetful = variant("forgetful", "broken/forgets-last.wgsl", [{ name: "lanes", values: [16], default: 16 }]);
const broken = variant("broken", "broken/does-not-compile.wgsl", []);

/** Elements that the reference computed. */
let expectedElements = 0;

const ones = (name: string, variants: KernelSpec<"n">["variants"]): KernelSpec<"n"> => ({
  name,
  description: "Writes ones, or should",
  folder: new URL("../", import.meta.url),
  dimensions: [{ name: "n", description: "Elements", min: 1, max: 4_096, default: 1_024 }],
  dtypes: ["float32"],
  bindings: [{ name: "values", access: "write", dtype: "float32", extents: ({ n }) => [n], alignment: [1] }],
  variants,
  flops: () => 0,
  bytes: ({ n }) => 4 * n,
  tolerance: { relative: 0, absolute: () => 0, reason: "ones are exact" },
  generate: () => ({}),
  reference: (_, { n }) => ({
    output: "values",
    length: n,
    elementFlops: 1,
    element() {
      expectedElements++;
      return 1;
    },
  }),
});

const kernels = [ones("mixed", [spinning, forgetful, broken]), ones("hopeless", [forgetful, broken])];
const gpu = await openGpu((reason) => console.error(reason));
const { device } = gpu;
const context = { device, pipelines: new PipelineCache(device), pool: new BufferPool(device) };
const target = {
  gpu,
  kernels: new Map(kernels.map((kernel: KernelSpec) => [kernel.name, kernel])),
  ...context,
  description: { ...(await probeGpu(gpu, context, "gpu0")), timestampQuantised: false },
};

async function attempt(kernel: string, signal: AbortSignal): Promise<void> {
  const phases = new Set<string>();
  expectedElements = 0;
  const spec = KernelTuningSpec.parse({ kind: "tuning", kernel, budgetMs: 60_000 });
  const onProgress = ({ phase, candidatesLeft }: JobProgress) => phases.add(`${phase}: ${candidatesLeft}`);
  const outcome = await tuneKernel(target, spec, { onProgress, signal }).then(
    (found) => ({ found, problem: null }),
    (error: unknown) => ({ found: null, problem: toProblem(error) }),
  );
  console.log(
    JSON.stringify({ ...outcome, phases: [...phases], expectedElements, liveBytes: target.pool.counters.liveBytes }),
  );
}

for (const { name } of kernels) await attempt(name, new AbortController().signal);
await attempt("mixed", AbortSignal.abort());
device.destroy();
