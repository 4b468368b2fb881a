/** Computes cases with the HRR kernels that a person can check, and prints them as one line of JSON. */
import type { KernelArrays, KernelShape } from "../../../kernels/kernel-spec.ts";
import { KERNELS } from "../../../kernels/registry.ts";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import { BufferPool } from "../../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { openGpu } from "../../../src/gpu-runner/devices/gpu/device.ts";
import { prepareKernel } from "../../../src/gpu-runner/kernels/dispatch/dispatch.ts";
import { PipelineCache } from "../../../src/gpu-runner/devices/gpu/pipeline-cache.ts";
import { resolveBenchmark } from "../../../src/gpu-runner/kernels/dispatch/resolve-benchmark.ts";

const gpu = await openGpu((reason) => console.error(reason));
const { device } = gpu;
const context = { device, pipelines: new PipelineCache(device), pool: new BufferPool(device) };

/** Runs a kernel on one's own vectors; tables come from its generator. */
async function run(
  kernel: string,
  shape: KernelShape,
  inputs: KernelArrays,
  variant?: string,
): Promise<Float32Array<ArrayBuffer>> {
  const choice = resolveBenchmark(KERNELS, { kernel, shape, dtype: "float32", variant });
  const prepared = await prepareKernel(context, choice, { ...choice.kernel.generate(choice.shape, 1), ...inputs });
  device.queue.submit([prepared.encode()]);
  const output = choice.kernel.bindings.find(({ access }) => access === "write")?.name ?? "";
  const values = (await prepared.read(output)) as Float32Array<ArrayBuffer>;
  prepared.release();
  gpu.throwUncaptured();
  return values;
}

/** Values of N(0, 1/d), by Box and Muller. */
function createVectors(count: number, dimension: number): Float32Array<ArrayBuffer> {
  const [u, v] = [0, 1].map((stream) => seededUniform(7, stream, count * dimension));
  return u!.map((value, i) => {
    const length = Math.sqrt((-2 * Math.log((1 - value) / 2)) / dimension);
    return length * Math.cos(Math.PI * v![i]!);
  });
}

/** Cosine of the result of unbinding the first pair from a superposition of `pairs` bound ones. */
async function recall(pairs: number, dimension: number): Promise<number> {
  const vectors = createVectors(2 * pairs, dimension);
  const [a, b] = [vectors.subarray(0, pairs * dimension), vectors.subarray(pairs * dimension)];
  const bound = await run("hrr-bind", { pairs, dimension }, { a, b });
  const c = await run("hrr-superpose", { groups: 1, vectors: pairs, dimension }, { x: bound });
  const x = await run("hrr-unbind", { pairs: 1, dimension }, { c, a: a.subarray(0, dimension) });
  const [cosine = Number.NaN] = await run(
    "hrr-similarity",
    { pairs: 1, dimension },
    { x, y: b.subarray(0, dimension) },
  );
  return cosine;
}

/** ‖error‖ / ‖result‖ of a binding, against the f64 reference at `sample` elements. */
async function measureError(dimension: number, variant: string, sample: number): Promise<number> {
  const shape = { pairs: 1, dimension };
  const kernel = KERNELS.get("hrr-bind")!;
  const inputs = kernel.generate(shape, 5);
  const output = await run("hrr-bind", shape, inputs, variant);
  const reference = kernel.reference(inputs, shape);
  let [errors, squares] = [0, 0];
  for (let i = 0; i < sample; i++) {
    const want = reference.element((i * 97) % dimension);
    errors += (output[(i * 97) % dimension]! - want) ** 2;
    squares += want ** 2;
  }
  return Math.sqrt(errors / squares);
}

const four = { a: Float32Array.of(1, 2, 3, 4), b: Float32Array.of(5, 6, 7, 8) };
const checked = await Promise.all(
  ["direct", "in-workgroup"].map((variant) => run("hrr-bind", { pairs: 1, dimension: 4 }, four, variant)),
);
const recalls = [];
for (const pairs of [1, 3, 8]) recalls.push({ pairs, cosine: await recall(pairs, 8192) });
const errors = [];
for (const variant of ["columns-and-rows", "direct"]) errors.push(await measureError(8192, variant, 1024));
console.log(JSON.stringify({ checked: checked.map((values) => [...values]), recalls, errors }));
device.destroy();
