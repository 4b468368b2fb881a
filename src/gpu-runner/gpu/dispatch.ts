import type { KernelArray, KernelArrays, KernelBinding, KernelSpec } from "../../../kernels/kernel-spec.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { BufferPool } from "./buffer-pool.ts";
import { withErrorScopes } from "./error-scopes.ts";
import { layoutBinding, type PaddedLayout, padValues, unpadValues } from "./padded-layout.ts";
import type { CompiledKernel, PipelineCache } from "./pipeline-cache.ts";
import { readBuffer } from "./readback.ts";
import type { KernelChoice } from "./resolve-benchmark.ts";
import { recordSpan, type SpanRecorder } from "./span-recorder.ts";

/** What went to a device and came back from it. */
export interface Traffic {
  dispatches: number;
  uploadedBytes: number;
  readBackBytes: number;
}

/** What kernels run on. */
export interface KernelContext {
  readonly device: GPUDevice;
  readonly pipelines: PipelineCache;
  readonly pool: BufferPool;
  /** Counted where somebody wants to know. */
  readonly traffic?: Traffic;
  /** There while a benchmark is profiled. */
  readonly recorder?: SpanRecorder;
}

/** A `write` binding where the device keeps it. */
export interface DeviceOutput {
  readonly name: string;
  readonly buffer: GPUBuffer;
  readonly sizeBytes: number;
  /** The dense values in a copy of the buffer's bytes. */
  unpack(bytes: ArrayBuffer): KernelArray;
}

/** A kernel with its inputs on the device, ready to run as often as one likes. */
export interface PreparedKernel {
  readonly outputs: readonly DeviceOutput[];
  /** Bytes that one `upload` moves. */
  readonly uploadBytes: number;
  /** Gives the `read` bindings that are named other values; work that was submitted before still sees the old ones. */
  upload(inputs: KernelArrays): void;
  /** Adds one run to a list of commands. */
  encodeInto(encoder: GPUCommandEncoder, timestampWrites?: GPUComputePassTimestampWrites): void;
  /** Commands for one run: all passes of the variant. */
  encode(timestampWrites?: GPUComputePassTimestampWrites): GPUCommandBuffer;
  /** Sets outputs and scratch to zeros, so that nothing of an earlier run is left; waits until it is done. */
  wipe(): Promise<void>;
  /** A `write` binding as the last run left it, dense. */
  read(name: string): Promise<KernelArray>;
  /** Gives the buffers back. */
  release(): void;
}

interface BoundBuffer {
  readonly binding: KernelBinding;
  readonly layout: PaddedLayout;
  readonly buffer: GPUBuffer;
}

/** Compiles a choice and uploads its inputs. Fails with `kernel-invalid` where it does not fit the device. */
export async function prepareKernel(
  context: KernelContext,
  choice: KernelChoice,
  inputs: KernelArrays,
): Promise<PreparedKernel> {
  const { device, pipelines, pool, traffic, recorder } = context;
  const { kernel, variant, shape, axes } = choice;
  assertFeatures(device, kernel);
  const layouts = kernel.bindings.map((binding) => ({ binding, layout: layoutBinding(binding, shape) }));
  for (const { binding, layout } of layouts) assertFits(device, binding, layout);
  const constants = { ...axes, ...variant.constants?.(shape) };
  const compiled = await recordSpan(recorder, "compile", () => pipelines.compile(kernel, variant, constants));

  const sizes = Uint32Array.from(kernel.dimensions, ({ name }) => shape[name] ?? 0);
  const acquired: GPUBuffer[] = [];
  const acquire = (sizeBytes: number, usage: GPUBufferUsageFlags) => {
    const buffer = pool.acquire(sizeBytes, usage);
    acquired.push(buffer);
    return buffer;
  };
  const release = () => acquired.splice(0).forEach((buffer) => pool.release(buffer));
  try {
    const uniform = acquire(sizes.byteLength, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const bound = layouts.map(({ binding, layout }) => ({
      binding,
      layout,
      buffer: acquire(layout.sizeBytes, usage),
    }));
    const fill = async () => {
      device.queue.writeBuffer(uniform, 0, sizes);
      for (const each of bound) upload(device, each, inputs, traffic);
      // Else the first run would wait for it.
      if (recorder !== undefined) await device.queue.onSubmittedWorkDone();
      return bind(device, compiled, uniform, bound);
    };
    const bindGroup = await recordSpan(recorder, "upload", () => withErrorScopes(device, fill));
    const workgroups = variant.passes.map((pass) => pass.workgroups(shape, axes));
    const encodeInto: PreparedKernel["encodeInto"] = (encoder, timestampWrites) => {
      if (traffic !== undefined) traffic.dispatches += workgroups.length;
      encodePasses(encoder, compiled, bindGroup, workgroups, timestampWrites);
    };
    const outputs = bound.filter(({ binding }) => binding.access === "write").map(toOutput);
    const read = bound.filter(({ binding }) => binding.access === "read");
    return {
      outputs,
      uploadBytes: read.reduce((total, { layout }) => total + layout.sizeBytes, 0),
      upload: (values) =>
        read.filter(({ binding }) => binding.name in values).forEach((each) => upload(device, each, values, traffic)),
      encodeInto,
      encode: (timestampWrites) => {
        const encoder = device.createCommandEncoder();
        encodeInto(encoder, timestampWrites);
        return encoder.finish();
      },
      wipe: () =>
        wipe(
          device,
          bound.filter(({ binding }) => binding.access !== "read"),
        ),
      read: (name) => readOutput(context, outputs, name),
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

function assertFeatures({ features }: GPUDevice, { name, features: needed = [] }: KernelSpec): void {
  const missing = needed.filter((feature) => !features.has(feature));
  if (missing.length > 0) {
    throw new ProblemError(
      "kernel-invalid",
      `'${name}' needs ${missing.join(" and ")}, which this device does not have`,
    );
  }
}

function assertFits({ limits }: GPUDevice, { name }: KernelBinding, { sizeBytes }: PaddedLayout): void {
  const limit = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  if (sizeBytes > limit) {
    throw new ProblemError("kernel-invalid", `'${name}' has ${sizeBytes} bytes, and the device binds at most ${limit}`);
  }
}

/** What no kernel is likely to write, as the words that outputs start with: NaN and the lowest integers. */
const UNWRITTEN = { float32: 0x7fc00000, float16: 0x7e007e00, int32: 0x80000000, int8: 0x80808080 } as const;

/** Outputs start so that an element which no invocation writes is seen to be wrong. */
function upload(
  { queue }: GPUDevice,
  { binding, layout, buffer }: BoundBuffer,
  inputs: KernelArrays,
  traffic?: Traffic,
): void {
  const values = inputs[binding.name];
  if (traffic !== undefined && binding.access !== "scratch") traffic.uploadedBytes += layout.sizeBytes;
  if (binding.access === "read") {
    if (values === undefined) throw new TypeError(`the generator made no '${binding.name}'`);
    queue.writeBuffer(buffer, 0, padValues(values, layout));
  } else if (binding.access === "write") {
    queue.writeBuffer(buffer, 0, new Uint32Array(layout.sizeBytes / 4).fill(UNWRITTEN[binding.dtype]));
  }
}

async function wipe(device: GPUDevice, written: readonly BoundBuffer[]): Promise<void> {
  const encoder = device.createCommandEncoder();
  for (const { buffer } of written) encoder.clearBuffer(buffer);
  device.queue.submit([encoder.finish()]);
  await device.queue.onSubmittedWorkDone();
}

function bind(
  device: GPUDevice,
  { layout }: CompiledKernel,
  uniform: GPUBuffer,
  bound: readonly BoundBuffer[],
): GPUBindGroup {
  const buffers = bound.map(({ buffer, layout: { sizeBytes } }, index) => ({
    binding: index + 1,
    resource: { buffer, size: sizeBytes },
  }));
  return device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer: uniform } }, ...buffers] });
}

function encodePasses(
  encoder: GPUCommandEncoder,
  { pipelines }: CompiledKernel,
  bindGroup: GPUBindGroup,
  workgroups: readonly (readonly [number, number, number])[],
  timestampWrites?: GPUComputePassTimestampWrites,
): void {
  const pass = encoder.beginComputePass(timestampWrites === undefined ? {} : { timestampWrites });
  pass.setBindGroup(0, bindGroup);
  for (const [index, pipeline] of pipelines.entries()) {
    pass.setPipeline(pipeline);
    pass.dispatchWorkgroups(...(workgroups[index] ?? [0, 0, 0]));
  }
  pass.end();
}

const ARRAYS = { float32: Float32Array, float16: Float16Array, int32: Int32Array, int8: Int8Array } as const;

function toOutput({ binding, layout, buffer }: BoundBuffer): DeviceOutput {
  return {
    name: binding.name,
    buffer,
    sizeBytes: layout.sizeBytes,
    unpack: (bytes) => unpadValues(new ARRAYS[binding.dtype](bytes), layout),
  };
}

async function readOutput(
  { device, pool, traffic }: KernelContext,
  outputs: readonly DeviceOutput[],
  name: string,
): Promise<KernelArray> {
  const output = outputs.find((candidate) => candidate.name === name);
  if (output === undefined) throw new TypeError(`there is no output '${name}'`);
  if (traffic !== undefined) traffic.readBackBytes += output.sizeBytes;
  return output.unpack(await readBuffer(device, pool, output.buffer, output.sizeBytes));
}
