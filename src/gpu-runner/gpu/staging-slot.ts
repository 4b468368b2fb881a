import type { KernelArray, KernelArrays } from "../../../kernels/kernel-spec.ts";
import type { PassSpan } from "./busy-share.ts";
import type { KernelContext, PreparedKernel } from "./dispatch.ts";
import { copyPieces, readStaging } from "./readback.ts";
import { GpuTimer, parseTicks, TICKS_BYTES } from "./timer.ts";

/** One submission's answer. */
export interface SlotAnswer {
  /** By the order of the kernel's outputs. */
  readonly outputs: readonly KernelArray[];
  /** Null on a device without timestamps. */
  readonly span: PassSpan | null;
  /** From submission to the answer in host memory, on the monotonic clock. */
  readonly latencyMs: number;
}

/**
 * One place of a staging ring: a kernel with buffers of its own, and a staging buffer that its timestamps
 * and outputs are copied to by the same submission. While the device computes in one place, others
 * are filled and emptied.
 */
export class StagingSlot {
  readonly #context: KernelContext;
  readonly #kernel: PreparedKernel;
  readonly #staging: GPUBuffer;
  readonly #timer: GpuTimer | null;
  #submittedAtMs = 0;

  private constructor(context: KernelContext, kernel: PreparedKernel, staging: GPUBuffer) {
    const { device, pool } = context;
    this.#context = context;
    this.#kernel = kernel;
    this.#staging = staging;
    this.#timer = device.features.has("timestamp-query") ? new GpuTimer(device, pool) : null;
  }

  /** Makes a place for a kernel, which belongs to it from then on. Fails with `out-of-memory`. */
  static async open(context: KernelContext, kernel: PreparedKernel): Promise<StagingSlot> {
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    const staging = await context.pool.acquireSurely(TICKS_BYTES + outputBytesOf(kernel), usage);
    return new StagingSlot(context, kernel, staging);
  }

  get submittedAtMs(): number {
    return this.#submittedAtMs;
  }

  get uploadBytes(): number {
    return this.#kernel.uploadBytes;
  }

  get readBackBytes(): number {
    return outputBytesOf(this.#kernel);
  }

  /** Uploads, computes and copies back in one submission. The slot is taken until `finish`. */
  submit(inputs: KernelArrays): void {
    const { device } = this.#context;
    this.#submittedAtMs = performance.now();
    this.#kernel.upload(inputs);
    const encoder = device.createCommandEncoder();
    this.#kernel.encodeInto(encoder, this.#timer?.timestampWrites);
    const ticks = this.#timer === null ? [] : [this.#timer.resolve(encoder)];
    copyPieces(encoder, [...ticks, ...this.#kernel.outputs.flatMap(({ pieces }) => pieces)], this.#staging);
    device.queue.submit([encoder.finish()]);
  }

  /** Waits for the answer, which is expected in so many milliseconds. */
  async finish(expectedMs: number): Promise<SlotAnswer> {
    const ticksBytes = this.#timer === null ? 0 : TICKS_BYTES;
    const bytes = await readStaging(this.#staging, ticksBytes + this.readBackBytes, expectedMs);
    const latencyMs = performance.now() - this.#submittedAtMs;
    let offset = ticksBytes;
    const outputs = this.#kernel.outputs.map((output) => {
      const from = offset;
      offset += output.sizeBytes;
      return output.unpack(bytes.slice(from, offset));
    });
    return { outputs, span: this.#timer === null ? null : toSpan(bytes), latencyMs };
  }

  /** Gives everything back; nothing may be in flight. */
  release(): void {
    this.#kernel.release();
    // Where waiting for the answer failed, nobody knows whether it is mapped.
    this.#context.pool.discard(this.#staging);
    this.#timer?.destroy();
  }
}

function outputBytesOf({ outputs }: PreparedKernel): number {
  return outputs.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
}

function toSpan(bytes: ArrayBuffer): PassSpan {
  const { beginNs, endNs } = parseTicks(bytes);
  return { startNs: Number(beginNs), endNs: Number(endNs) };
}
