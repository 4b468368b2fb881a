import type { KernelArray, KernelArrays, KernelBinding, KernelShape } from "../../../../kernels/kernel-spec.ts";
import type { BufferPool } from "../../devices/gpu/buffer-pool.ts";
import type { PipelineCache } from "../../devices/gpu/pipeline-cache.ts";
import type { SpanRecorder } from "../../devices/gpu/span-recorder.ts";
import { type DeviceOutput, readOutput, toOutput } from "./device-output.ts";
import type { KernelChoice } from "./resolve-benchmark.ts";
import { type PartLimits, type ProblemPart, sliceInputs, splitProblem } from "./split-problem.ts";
import { resetOutput, type RunnablePart, uploadBinding, type UploadedPart, uploadPart } from "./upload-part.ts";

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
  /** Buffers that hold inputs already, dense and padded as their binding is, by its name. Only of a problem in one part. */
  readonly given?: ReadonlyMap<string, GPUBuffer>;
  /** What a part of a problem may take, where that is less than what the device allows. */
  readonly limits?: PartLimits;
}

/** A kernel with its inputs on the device, ready to run as often as one likes. */
export interface RunnableKernel {
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
}

/** One that has its buffers to itself. */
export interface PreparedKernel extends RunnableKernel {
  /** Gives the buffers back. */
  release(): void;
}

/** A kernel's buffers at a shape, which all of its variants share. */
export interface UploadedKernel {
  /** Compiles a choice of the kernel at this shape. Fails with `kernel-invalid` where the device cannot have it. */
  prepare(choice: Pick<KernelChoice, "variant" | "axes">): Promise<RunnableKernel>;
  /** Makes the outputs what they are before the first run, so that nobody is taken for the one before. */
  reset(): void;
  release(): void;
}

/**
 * Compiles a choice and uploads its inputs. A problem beyond the device's limits runs in parts, where its
 * kernel can be split; fails with `kernel-invalid` where it does not fit the device all the same.
 */
export async function prepareKernel(
  context: KernelContext,
  choice: KernelChoice,
  inputs: KernelArrays,
): Promise<PreparedKernel> {
  const uploaded = await uploadParts(context, choice, inputs);
  try {
    return { ...(await uploaded.compile(choice)), release: uploaded.release };
  } catch (error) {
    uploaded.release();
    throw error;
  }
}

/**
 * Uploads a kernel's inputs, in parts where they are more than the device binds. Fails with
 * `kernel-invalid` where they do not fit all the same.
 */
export async function uploadKernel(
  context: KernelContext,
  choice: Pick<KernelChoice, "kernel" | "shape">,
  inputs: KernelArrays,
): Promise<UploadedKernel> {
  const { parts, compile, release } = await uploadParts(context, choice, inputs);
  return {
    prepare: compile,
    reset: () => parts.flatMap(({ bound }) => bound).forEach((each) => resetOutput(context.device, each)),
    release,
  };
}

/** What of a choice is known when its inputs are uploaded: without a variant, its workgroups are not. */
type Problem = Pick<KernelChoice, "kernel" | "shape"> & Partial<Pick<KernelChoice, "variant" | "axes">>;

/** The parts in which a device runs a problem. */
export function listParts(
  { device, limits = device.limits }: Pick<KernelContext, "device" | "limits">,
  { kernel, shape, variant, axes }: Problem,
): readonly ProblemPart[] {
  const passes = variant === undefined || axes === undefined ? [] : variant.passes;
  const countGroups = (size: KernelShape) => passes.flatMap((pass) => pass.workgroups(size, axes ?? {}));
  return splitProblem(limits, kernel, shape, countGroups);
}

async function uploadParts(context: KernelContext, problem: Problem, inputs: KernelArrays) {
  const { kernel, shape } = problem;
  const split = listParts(context, problem);
  const parts: UploadedPart[] = [];
  const release = () => parts.splice(0).forEach((part) => part.release());
  try {
    for (const part of split) {
      const own = sliceInputs(kernel, shape, part, inputs);
      parts.push(await uploadPart(context, { kernel, shape: part.shape }, own));
    }
  } catch (error) {
    release();
    throw error;
  }
  const compile = async (choice: Pick<KernelChoice, "variant" | "axes">): Promise<RunnableKernel> => {
    const runnable: RunnablePart[] = [];
    for (const part of parts) runnable.push(await part.compile(choice));
    return createRunnable(context, kernel.bindings, runnable, (part, values) =>
      sliceInputs(kernel, shape, split[part]!, values),
    );
  };
  return { parts, compile, release };
}

/** All parts as one kernel; `slice` gives the inputs of a part out of those of the whole. */
function createRunnable(
  context: KernelContext,
  bindings: readonly KernelBinding[],
  parts: readonly RunnablePart[],
  slice: (part: number, inputs: KernelArrays) => KernelArrays,
): RunnableKernel {
  const { device, traffic } = context;
  const select = (...accesses: KernelBinding["access"][]) =>
    parts.flatMap(({ bound }) => bound.filter(({ binding }) => accesses.includes(binding.access)));
  const outputs = bindings
    .filter(({ access }) => access === "write")
    .map((binding) => toOutput(select("write").filter((each) => each.binding === binding)));
  const encodeInto: RunnableKernel["encodeInto"] = (encoder, timestampWrites) => {
    const pass = encoder.beginComputePass(timestampWrites === undefined ? {} : { timestampWrites });
    for (const part of parts) part.record(pass);
    pass.end();
  };
  return {
    outputs,
    uploadBytes: select("read").reduce((total, { layout }) => total + layout.sizeBytes, 0),
    upload(inputs) {
      for (const [index, { bound }] of parts.entries()) {
        const own = slice(index, inputs);
        for (const each of bound) if (own[each.binding.name] !== undefined) uploadBinding(device, each, own, traffic);
      }
    },
    encodeInto,
    encode: (timestampWrites) => {
      const encoder = device.createCommandEncoder();
      encodeInto(encoder, timestampWrites);
      return encoder.finish();
    },
    wipe: async () => {
      const encoder = device.createCommandEncoder();
      for (const { buffer } of select("write", "scratch")) encoder.clearBuffer(buffer);
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
    },
    read: (name) => readOutput(context, outputs, name),
  };
}

/** Gives back to the driver what waits for reuse, and what was destroyed. */
export async function freeIdle({ device, pool }: Pick<KernelContext, "device" | "pool">): Promise<void> {
  pool.destroy();
  // Dawn frees destroyed buffers behind the next submission: without one, never.
  device.queue.submit([]);
  await device.queue.onSubmittedWorkDone();
}
