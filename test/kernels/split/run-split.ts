/** Runs kernels whole and in parts and prints, as a line of JSON each, whether the outputs are the same. */
import { KERNELS } from "../../../kernels/registry.ts";
import { BufferPool } from "../../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { openGpu, readLimits } from "../../../src/gpu-runner/devices/gpu/device.ts";
import { type KernelContext, prepareKernel } from "../../../src/gpu-runner/kernels/dispatch/dispatch.ts";
import { layoutBinding } from "../../../src/gpu-runner/kernels/dispatch/padded-layout.ts";
import { PipelineCache } from "../../../src/gpu-runner/devices/gpu/pipeline-cache.ts";
import { type KernelChoice, resolveBenchmark } from "../../../src/gpu-runner/kernels/dispatch/resolve-benchmark.ts";
import { type PartLimits, splitProblem } from "../../../src/gpu-runner/kernels/dispatch/split-problem.ts";
import type { SplitCase } from "../split.test.ts";

const SEED = 3;
const gpu = await openGpu((reason) => console.error(reason));
const { device } = gpu;
const context = { device, pipelines: new PipelineCache(device), pool: new BufferPool(device) };

/** The lowest limit under which about a third of the problem fits. */
function lowerLimits({ kernel, shape }: KernelChoice, by: string): PartLimits {
  const part = { ...shape, [by]: Math.ceil((shape[by] ?? 1) / 3) };
  const sizes = kernel.bindings.map((binding) => layoutBinding(binding, part).sizeBytes);
  const { maxBufferSize, maxComputeWorkgroupsPerDimension } = device.limits;
  return { maxBufferSize, maxComputeWorkgroupsPerDimension, maxStorageBufferBindingSize: Math.max(...sizes) };
}

async function run(target: KernelContext, choice: KernelChoice, seeds: readonly number[]) {
  const { kernel, shape } = choice;
  const [first = SEED, ...others] = seeds;
  const inputs = kernel.generate(shape, first);
  const prepared = await prepareKernel(target, choice, inputs);
  for (const seed of others) prepared.upload(kernel.generate(shape, seed));
  device.queue.submit([prepared.encode()]);
  const outputs = kernel.bindings.filter(({ access }) => access === "write");
  const values = await Promise.all(outputs.map(({ name }) => prepared.read(name)));
  prepared.release();
  gpu.throwUncaptured();
  return values;
}

for (const { kernel, shape } of JSON.parse(process.argv[2] ?? "[]") as SplitCase[]) {
  const choice = resolveBenchmark(KERNELS, { kernel, shape, dtype: KERNELS.get(kernel)?.dtypes[0] ?? "float32" });
  const limits = lowerLimits(choice, choice.kernel.splitBy ?? "");
  const whole = await run(context, choice, [SEED]);
  const split = await run({ ...context, limits }, choice, [SEED]);
  const rewritten = await run({ ...context, limits }, choice, [SEED + 1, SEED]);
  console.log(
    JSON.stringify({
      kernel,
      parts: splitProblem(limits, choice.kernel, choice.shape, () => []).length,
      same: whole.every((values, output) => Buffer.from(values.buffer).equals(Buffer.from(split[output]!.buffer))),
      sameRewritten: whole.every((values, output) =>
        Buffer.from(values.buffer).equals(Buffer.from(rewritten[output]!.buffer)),
      ),
      written: whole.every((values) => values.some((value) => value !== 0)),
      liveBytes: context.pool.counters.liveBytes,
    }),
  );
}

/** Binds 160 MiB at once; WebGPU guarantees 128. */
const large = resolveBenchmark(KERNELS, {
  kernel: "hrr-similarity",
  shape: { pairs: 5120, dimension: 8192 },
  dtype: "float32",
});
const inputs = large.kernel.generate(large.shape, SEED);
const prepared = await prepareKernel(context, large, inputs);
device.queue.submit([prepared.encode()]);
const cosines = await prepared.read("cosines");
prepared.release();
gpu.throwUncaptured();
const reference = large.kernel.reference(inputs, large.shape);
const probes = [0, 1, 2, 3, 4095, 4096, 4097, 5117, 5118, 5119];
const worst = Math.max(...probes.map((pair) => Math.abs(cosines[pair]! - reference.element(pair))));
console.log(JSON.stringify({ boundBytes: inputs["x"]!.byteLength, worst }));

const adapterLimits = readLimits(gpu.adapter.limits);
const lower = Object.entries(readLimits(device.limits)).filter(([name, value]) => value !== adapterLimits[name]);
console.log(JSON.stringify({ lower }));
device.destroy();
