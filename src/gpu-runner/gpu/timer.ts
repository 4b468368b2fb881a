import type { BufferPool } from "./buffer-pool.ts";
import { readBuffer } from "./readback.ts";

/** Two timestamps of 64 bits. */
const SIZE_BYTES = 16;

/** Times one compute pass at a time on the GPU's own clock; the device has `timestamp-query`. */
export class GpuTimer {
  /** To be given to the pass that is timed. */
  readonly timestampWrites: GPUComputePassTimestampWrites;
  readonly #device: GPUDevice;
  readonly #pool: BufferPool;
  readonly #querySet: GPUQuerySet;
  readonly #resolved: GPUBuffer;

  constructor(device: GPUDevice, pool: BufferPool) {
    this.#device = device;
    this.#pool = pool;
    this.#querySet = device.createQuerySet({ type: "timestamp", count: 2 });
    this.#resolved = device.createBuffer({
      size: SIZE_BYTES,
      usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
    });
    this.timestampWrites = { querySet: this.#querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 };
  }

  /** Duration of the last timed pass in milliseconds, once it has ended. */
  async readMs(): Promise<number> {
    const { beginNs, endNs } = await this.readTicks();
    return Number(endNs - beginNs) / 1e6;
  }

  /** Begin and end of the last timed pass in nanoseconds of the GPU's own clock, once it has ended. */
  async readTicks(): Promise<{ beginNs: bigint; endNs: bigint }> {
    const encoder = this.#device.createCommandEncoder();
    encoder.resolveQuerySet(this.#querySet, 0, 2, this.#resolved, 0);
    this.#device.queue.submit([encoder.finish()]);
    const bytes = await readBuffer(this.#device, this.#pool, this.#resolved, SIZE_BYTES);
    const [beginNs, endNs] = new BigInt64Array(bytes) as unknown as readonly [bigint, bigint];
    return { beginNs, endNs };
  }

  destroy(): void {
    this.#querySet.destroy();
    this.#resolved.destroy();
  }
}
