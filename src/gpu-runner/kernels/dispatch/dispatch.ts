import type { KernelArray, KernelArrays, KernelBinding, KernelShape } from "../../../../kernels/kernel-spec.ts";
import type { BufferPool } from "../../devices/gpu/buffer-pool.ts";
import type { PipelineCache } from "../../devices/gpu/pipeline-cache.ts";
import type { SpanRecorder } from "../../devices/gpu/span-recorder.ts";
import { type DeviceOutput, readOutput, toOutput } from "./device-output.ts";
import type { KernelChoice } from "./resolve-benchmark.ts";
import { type PartLimits, type ProblemPart, sliceInputs, splitProblem } from "./split-problem.ts";
import { resetOutput, type RunnablePart, uploadBinding, type UploadedPart, uploadPart } from "./upload-part.ts";
import { shareCoreUntil } from "../../devices/gpu/wait-for-gpu.ts";

/** Bytes uploaded to a device and read back from it. */
export interface Traffic {
  dispatches: number;
  uploadedBytes: number;
  readBackBytes: number;
}

/** Resources that kernels run with. */
export interface KernelContext {
  readonly device: GPUDevice;
  readonly pipelines: PipelineCache;
  readonly pool: BufferPool;
  /** Counters, where they are wanted. */
  readonly traffic?: Traffic;
  /** Present while a benchmark is profiled. */
  readonly recorder?: SpanRecorder;
  /**
   * Buffers that already hold inputs, dense and padded like their binding, by its name. Only for a problem in one part.
   */
  readonly given?: ReadonlyMap<string, GPUBuffer>;
  /** Limits of a problem's part, where lower than the device's. */
  readonly limits?: PartLimits;
}

/** Kernel with its inputs on the device, ready for any number of runs. */
export interface RunnableKernel {
  readonly outputs: readonly DeviceOutput[];
  /** Bytes of one `upload`. */
  readonly uploadBytes: number;
  /** Replaces the values of the named `read` bindings; work submitted before still sees the old ones. */
  upload(inputs: KernelArrays): void;
  /** Adds one run to a list of commands. */
  encodeInto(encoder: GPUCommandEncoder, timestampWrites?: GPUComputePassTimestampWrites): void;
  /** Commands for one run: all passes of the variant. */
  encode(timestampWrites?: GPUComputePassTimestampWrites): GPUCommandBuffer;
  /** Zeroes outputs and scratch, so that no result of an earlier run remains; waits until it is done. */
  wipe(): Promise<void>;
  /** Dense values of a `write` binding after the last run. */
  read(name: string): Promise<KernelArray>;
}

/** Runnable kernel with exclusive buffers. */
export interface PreparedKernel extends RunnableKernel {
  /** Releases the buffers. */
  release(): void;
}

/** Buffers of a kernel at a shape, shared by all of its variants. */
export interface UploadedKernel {
  /**
   * Compiles a choice of the kernel at this shape. Fails with `kernel-invalid` where the device does not support it.
   */
  prepare(choice: Pick<KernelChoice, "variant" | "axes">): Promise<RunnableKernel>;
  /** Resets the outputs to their initial state, so that no result is mistaken for an earlier candidate's. */
  reset(): void;
  release(): void;
}

/**
 * Compiles a choice and uploads its inputs. A problem beyond the device's limits runs in parts, where its kernel can be
 * split. Fails with `kernel-invalid` where it still does not fit the device.
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
 * Uploads a kernel's inputs, in parts where they exceed the device's binding limits. Fails with `kernel-invalid` where
 * they still do not fit.
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

/** Part of a choice that is known when inputs are uploaded; the workgroups depend on the variant. */
type Problem = Pick<KernelChoice, "kernel" | "shape"> & Partial<Pick<KernelChoice, "variant" | "axes">>;

/** Parts in which a device runs a problem. */
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

/** All parts as one kernel; `slice` extracts the inputs of a part from those of the whole. */
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
      await shareCoreUntil(device.queue.onSubmittedWorkDone());
    },
    read: (name) => readOutput(context, outputs, name),
  };
}

/** Releases idle and destroyed buffers to the driver. */
export async function freeIdle({ device, pool }: Pick<KernelContext, "device" | "pool">): Promise<void> {
  pool.destroy();
  // Dawn frees destroyed buffers only after the next submission.
  device.queue.submit([]);
  await shareCoreUntil(device.queue.onSubmittedWorkDone());
}
