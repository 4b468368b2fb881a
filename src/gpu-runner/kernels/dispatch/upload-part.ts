import type { KernelArrays, KernelBinding, KernelSpec } from "../../../../kernels/kernel-spec.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { KernelContext, Traffic } from "./dispatch.ts";
import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { bindableBytes, layoutBinding, type PaddedLayout, padValues } from "./padded-layout.ts";
import type { CompiledKernel } from "../../devices/gpu/pipeline-cache.ts";
import type { KernelChoice } from "./resolve-benchmark.ts";
import { recordSpan } from "../../devices/gpu/span-recorder.ts";

/** Binding with its buffer on the device. */
export interface BoundBuffer {
  readonly binding: KernelBinding;
  readonly layout: PaddedLayout;
  readonly buffer: GPUBuffer;
}

/** Compiled choice with its buffers. */
export interface RunnablePart {
  readonly bound: readonly BoundBuffer[];
  /** Adds one run to a pass. */
  record(pass: GPUComputePassEncoder): void;
}

/** Buffers of a kernel at one shape, which all of its variants may share. */
export interface UploadedPart {
  readonly bound: readonly BoundBuffer[];
  /** Fails with `kernel-invalid` where the device does not support the choice. */
  compile(choice: Pick<KernelChoice, "variant" | "axes">): Promise<RunnablePart>;
  release(): void;
}

/** Uploads a kernel's inputs. Fails with `kernel-invalid` or `out-of-memory` where they do not fit the device. */
export async function uploadPart(
  context: KernelContext,
  { kernel, shape }: Pick<KernelChoice, "kernel" | "shape">,
  inputs: KernelArrays,
): Promise<UploadedPart> {
  const { device, pipelines, pool, traffic, recorder, given } = context;
  assertFeatures(device, kernel);
  const layouts = kernel.bindings.map((binding) => ({ binding, layout: layoutBinding(binding, shape) }));
  for (const { binding, layout } of layouts) assertFits(device, binding, layout);

  const sizes = kernel.dimensions.map(({ name }) => shape[name] ?? 0);
  const buffers: GPUBuffer[] = [];
  const acquire = (...wanted: Parameters<typeof pool.acquire>): GPUBuffer => {
    const buffer = pool.acquire(...wanted);
    buffers.push(buffer);
    return buffer;
  };
  const release = () => buffers.splice(0).forEach((buffer) => pool.release(buffer));
  const fill = async () => {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const uniform = acquire(4 * sizes.length, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST, "overwritten");
    const bound = layouts.map((each) => {
      // Inputs and outputs overwrite the whole bound range.
      const content = each.binding.access === "scratch" ? "zeros" : "overwritten";
      return { ...each, buffer: given?.get(each.binding.name) ?? acquire(each.layout.sizeBytes, usage, content) };
    });
    const words = new Uint32Array(uniform.size / 4);
    words.set(sizes);
    device.queue.writeBuffer(uniform, 0, words);
    for (const each of bound) if (given?.has(each.binding.name) !== true) uploadBinding(device, each, inputs, traffic);
    // Without this wait, the first run would include it.
    if (recorder !== undefined) await device.queue.onSubmittedWorkDone();
    return { uniform, bound };
  };
  try {
    const { uniform, bound } = await recordSpan(recorder, "upload", () => withErrorScopes(device, fill));
    return {
      bound,
      async compile({ variant, axes }) {
        const constants = { ...axes, ...variant.constants?.(shape) };
        const compiled = await recordSpan(recorder, "compile", () => pipelines.compile(kernel, variant, constants));
        const bindGroup = await withErrorScopes(device, () => bind(device, compiled, uniform, bound));
        const workgroups = variant.passes.map((pass) => pass.workgroups(shape, axes));
        return {
          bound,
          record: (pass) => {
            const dispatches = recordPasses(pass, compiled, bindGroup, workgroups);
            if (traffic !== undefined) traffic.dispatches += dispatches;
          },
        };
      },
      release,
    };
  } catch (error) {
    // Some of them may be invalid.
    for (const buffer of buffers) pool.discard(buffer);
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
  const limit = bindableBytes(limits);
  if (sizeBytes > limit) {
    throw new ProblemError("kernel-invalid", `'${name}' has ${sizeBytes} bytes, and the device binds at most ${limit}`);
  }
}

/** Fills an input, or sets an output to its initial state. */
export function uploadBinding(device: GPUDevice, bound: BoundBuffer, inputs: KernelArrays, traffic?: Traffic): void {
  const { binding, layout, buffer } = bound;
  if (traffic !== undefined && binding.access !== "scratch") traffic.uploadedBytes += layout.sizeBytes;
  if (binding.access !== "read") return resetOutput(device, bound);
  const values = inputs[binding.name];
  if (values === undefined) throw new TypeError(`the generator made no '${binding.name}'`);
  // An ArrayBuffer, because Dawn's binding divides by zero on a Float16Array.
  const padded = padValues(values, layout);
  device.queue.writeBuffer(buffer, 0, padded.buffer, padded.byteOffset, padded.byteLength);
}

/** Initial words of outputs, which no kernel is likely to write: NaN and the lowest integers. */
const UNWRITTEN = { float32: 0x7fc00000, float16: 0x7e007e00, int32: 0x80000000, int8: 0x80808080 } as const;

/** Fills an output so that an element that no invocation writes is found to be wrong. */
export function resetOutput({ queue }: GPUDevice, { binding, layout, buffer }: BoundBuffer): void {
  if (binding.access !== "write") return;
  queue.writeBuffer(buffer, 0, new Uint32Array(layout.sizeBytes / 4).fill(UNWRITTEN[binding.dtype]));
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

/** Returns the number of dispatches. */
function recordPasses(
  pass: GPUComputePassEncoder,
  { pipelines }: CompiledKernel,
  bindGroup: GPUBindGroup,
  workgroups: readonly (readonly [number, number, number])[],
): number {
  let dispatches = 0;
  pass.setBindGroup(0, bindGroup);
  for (const [index, pipeline] of pipelines.entries()) {
    const groups = workgroups[index] ?? [0, 0, 0];
    // A shape may not need every pass, and Dawn warns of empty dispatches.
    if (groups.includes(0)) continue;
    pass.setPipeline(pipeline);
    pass.dispatchWorkgroups(...groups);
    dispatches++;
  }
  return dispatches;
}
