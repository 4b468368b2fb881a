import type { BufferPool } from "./buffer-pool.ts";
import { type BufferPiece, readPieces } from "./readback.ts";

/** Two timestamps of 64 bits. */
export const TICKS_BYTES = 16;

/** Begin and end of a pass in nanoseconds of the GPU's own clock. */
export interface Ticks {
  readonly beginNs: bigint;
  readonly endNs: bigint;
}

/** Times one compute pass at a time on the GPU's own clock; requires `timestamp-query`. */
export class GpuTimer {
  /** For the pass that is timed. */
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
      size: TICKS_BYTES,
      usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
    });
    this.timestampWrites = { querySet: this.#querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 };
  }

  /** Encodes the copy of the previous pass's ticks to a buffer, for `parseTicks`. */
  resolve(encoder: GPUCommandEncoder): BufferPiece {
    encoder.resolveQuerySet(this.#querySet, 0, 2, this.#resolved, 0);
    return { buffer: this.#resolved, sizeBytes: TICKS_BYTES };
  }

  /** Ticks of the last timed pass, once it has ended. */
  async readTicks(): Promise<Ticks> {
    const encoder = this.#device.createCommandEncoder();
    const piece = this.resolve(encoder);
    return parseTicks(await readPieces(this.#device, this.#pool, [piece], { encoder, expectedMs: 0 }));
  }

  destroy(): void {
    this.#querySet.destroy();
    this.#resolved.destroy();
  }
}

/** Ticks in the first bytes of a copy. */
export function parseTicks(bytes: ArrayBuffer): Ticks {
  const [beginNs, endNs] = new BigInt64Array(bytes, 0, 2) as unknown as readonly [bigint, bigint];
  return { beginNs, endNs };
}
