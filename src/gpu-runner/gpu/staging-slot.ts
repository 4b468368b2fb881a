import { setTimeout } from "node:timers/promises";
import type { KernelArray, KernelArrays } from "../../../kernels/kernel-spec.ts";
import type { GpuSpan } from "./busy-share.ts";
import type { KernelContext, PreparedKernel } from "./dispatch.ts";

/** Two timestamps of 64 bits. */
const TIMESTAMPS_BYTES = 16;
/** Below this, sleeping costs more than polling does. */
const SHORTEST_NAP_MS = 4;

/** One submission's answer. */
export interface SlotAnswer {
  /** By the order of the kernel's outputs. */
  readonly outputs: readonly KernelArray[];
  /** Null on a device without timestamps. */
  readonly span: GpuSpan | null;
  /** From submission to the answer in host memory, on the monotonic clock. */
  readonly latencyMs: number;
}

/**
 * One place of a staging ring: a kernel with buffers of its own, and a staging buffer that its outputs
 * and timestamps are copied to by the same submission. While the device computes in one place, others
 * are filled and emptied.
 */
export class StagingSlot {
  readonly #context: KernelContext;
  readonly #kernel: PreparedKernel;
  readonly #staging: GPUBuffer;
  readonly #stagingBytes: number;
  readonly #querySet: GPUQuerySet | null;
  readonly #resolved: GPUBuffer | null;
  #submittedAtMs = 0;

  constructor(context: KernelContext, kernel: PreparedKernel) {
    const { device, pool } = context;
    this.#context = context;
    this.#kernel = kernel;
    this.#stagingBytes = kernel.outputs.reduce((total, { sizeBytes }) => total + sizeBytes, TIMESTAMPS_BYTES);
    this.#staging = pool.acquire(this.#stagingBytes, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
    const isTimed = device.features.has("timestamp-query");
    this.#querySet = isTimed ? device.createQuerySet({ type: "timestamp", count: 2 }) : null;
    const usage = GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC;
    this.#resolved = isTimed ? device.createBuffer({ size: TIMESTAMPS_BYTES, usage }) : null;
  }

  get submittedAtMs(): number {
    return this.#submittedAtMs;
  }

  get uploadBytes(): number {
    return this.#kernel.uploadBytes;
  }

  get readBackBytes(): number {
    return this.#stagingBytes - TIMESTAMPS_BYTES;
  }

  /** Uploads, computes and copies back in one submission. The slot is taken until `finish`. */
  submit(inputs: KernelArrays): void {
    const { device } = this.#context;
    this.#submittedAtMs = performance.now();
    this.#kernel.upload(inputs);
    const encoder = device.createCommandEncoder();
    const querySet = this.#querySet;
    this.#kernel.encodeInto(
      encoder,
      querySet === null ? undefined : { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 },
    );
    if (querySet !== null && this.#resolved !== null) {
      encoder.resolveQuerySet(querySet, 0, 2, this.#resolved, 0);
      encoder.copyBufferToBuffer(this.#resolved, 0, this.#staging, 0, TIMESTAMPS_BYTES);
    }
    let offset = TIMESTAMPS_BYTES;
    for (const { buffer, sizeBytes } of this.#kernel.outputs.flatMap(({ pieces }) => pieces)) {
      encoder.copyBufferToBuffer(buffer, 0, this.#staging, offset, sizeBytes);
      offset += sizeBytes;
    }
    device.queue.submit([encoder.finish()]);
  }

  /**
   * Waits for the answer, asleep until `expectedAtMs` (of `performance.now`): Dawn polls with a whole
   * core while anything is mapped, which a software device needs for itself.
   */
  async finish(expectedAtMs: number): Promise<SlotAnswer> {
    const napMs = Math.floor(expectedAtMs - performance.now()) - 1;
    if (napMs >= SHORTEST_NAP_MS) await setTimeout(napMs);
    await this.#staging.mapAsync(GPUMapMode.READ, 0, this.#stagingBytes);
    const bytes = this.#staging.getMappedRange(0, this.#stagingBytes).slice(0);
    this.#staging.unmap();
    const latencyMs = performance.now() - this.#submittedAtMs;
    const [start = 0n, end = 0n] = new BigUint64Array(bytes, 0, 2);
    let offset = TIMESTAMPS_BYTES;
    const outputs = this.#kernel.outputs.map((output) => {
      const from = offset;
      offset += output.sizeBytes;
      return output.unpack(bytes.slice(from, offset));
    });
    const span = this.#querySet === null ? null : { startNs: Number(start), endNs: Number(end) };
    return { outputs, span, latencyMs };
  }

  /** Gives everything back; nothing may be in flight. */
  release(): void {
    this.#kernel.release();
    this.#context.pool.release(this.#staging);
    this.#querySet?.destroy();
    this.#resolved?.destroy();
  }
}
