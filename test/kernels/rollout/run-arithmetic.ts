/** Computes words and functions on this machine's device, and prints them, or their errors against f64. */
import { readFile } from "node:fs/promises";
import { ROLLOUT_FOLDER } from "../../../kernels/rollout/write-prelude.ts";
import { BufferPool } from "../../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { openGpu } from "../../../src/gpu-runner/devices/gpu/device.ts";
import { compileModule } from "../../../src/gpu-runner/devices/gpu/kernel-loader.ts";
import { readBuffer } from "../../../src/gpu-runner/devices/gpu/readback.ts";

const gpu = await openGpu((reason) => console.error(reason));
const { device } = gpu;
const pool = new BufferPool(device);
const read = (file: string) => readFile(new URL(file, ROLLOUT_FOLDER), "utf8");
const shared = `${await read("philox.wgsl")}\n${await read("arithmetic.wgsl")}`;

/** Results of `body` for each input, four words for four. */
async function compute(body: string, input: Uint32Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const code = `${shared}
@group(0) @binding(0) var<storage, read> input: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> output: array<vec4u>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&input)) { output[id.x] = ${body}; }
}`;
  const module = await compileModule(device, "main", code);
  const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module } });
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const buffers = [0, 1].map(() => device.createBuffer({ size: input.byteLength, usage }));
  device.queue.writeBuffer(buffers[0]!, 0, input);
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(Math.ceil(input.length / 4 / 64));
  pass.end();
  device.queue.submit([encoder.finish()]);
  return readBuffer(device, pool, buffers[1]!, input.byteLength);
}

const FULL = 0xffffffff;
const PI = [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344] as const;
for (const [counter, key] of [
  [
    [0, 0, 0, 0],
    [0, 0],
  ],
  [
    [FULL, FULL, FULL, FULL],
    [FULL, FULL],
  ],
  [PI, [0xa4093822, 0x299f31d0]],
] as const) {
  const words = await compute(`philox(input[id.x], vec2u(${key[0]}u, ${key[1]}u))`, Uint32Array.from(counter));
  console.log(JSON.stringify([...new Uint32Array(words)].map((word) => word.toString(16).padStart(8, "0"))));
}

/** The largest error of a function over numbers from `low` to `high`, by `scale` of the right value. */
async function findError(
  call: string,
  right: (x: number) => number,
  [low, high]: readonly [number, number],
  scale: (value: number) => number,
): Promise<number> {
  const inputs = Float32Array.from({ length: 65_536 }, (_, at) => low + ((high - low) * at) / 65_535);
  const body = `bitcast<vec4u>(vec4f(${["x", "y", "z", "w"].map((part) => call.replace("x", `bitcast<f32>(input[id.x].${part})`)).join(", ")}))`;
  const results = new Float32Array(await compute(body, new Uint32Array(inputs.buffer)));
  return results.reduce((most, result, at) => {
    const value = right(inputs[at]!);
    return Math.max(most, Math.abs(result - value) / scale(value));
  }, 0);
}

const absolute = () => 1;
const relative = (value: number) => Math.max(1e-6, Math.abs(value));
console.log(
  JSON.stringify({
    sine: await findError("sine(x)", Math.sin, [-10, 10], absolute),
    cosine: await findError("cosine(x)", Math.cos, [-10, 10], absolute),
    farSine: await findError("sine(x)", Math.sin, [-2_000, 2_000], absolute),
    turn: await findError("sine_cosine_of_turn(x).x", (x) => Math.sin(2 * Math.PI * x), [0, 1], absolute),
    hyperbolicTangent: await findError("hyperbolic_tangent(x)", Math.tanh, [-20, 20], absolute),
    logarithm: await findError("natural_logarithm(x)", Math.log, [2 ** -24, 1], relative),
    largeLogarithm: await findError("natural_logarithm(x)", Math.log, [1, 1e6], relative),
  }),
);
const odd = Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 3.4e38);
const finite = ["x", "y", "z", "w"].map((part) => `u32(is_finite(bitcast<f32>(input[id.x].${part})))`).join(", ");
console.log(JSON.stringify([...new Uint32Array(await compute(`vec4u(${finite})`, new Uint32Array(odd.buffer)))]));
gpu.device.destroy();
