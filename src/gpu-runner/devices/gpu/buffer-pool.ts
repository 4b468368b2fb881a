import { ProblemError } from "../../../protocol/wire/problem.ts";
import { withErrorScopes } from "./error-scopes.ts";

const MiB = 2 ** 20;
const IDLE_CAP_BYTES = 256 * MiB;
/** That of `GPUBufferUsage`, which is there once a device is. */
const COPY_DST = 0x8;

/** What a buffer holds that is had from a pool: zeros, or what its user writes before anything reads it. */
type Content = "zeros" | "overwritten";

/** Buffers of one device, reused by size class and usage; JavaScript's collector never frees one. */
export class BufferPool {
  readonly counters = {
    created: 0,
    reused: 0,
    destroyed: 0,
    /** Requests that the cap did not allow. */
    refused: 0,
    liveBytes: 0,
    idleBytes: 0,
    /** The most that live and idle buffers had together. */
    peakBytes: 0,
  };
  readonly capBytes: number;
  readonly #device: GPUDevice;
  readonly #idleCapBytes: number;
  readonly #idle = new Map<string, GPUBuffer[]>();

  /**
   * At most `idleCapBytes` wait for reuse; what comes back beyond that is destroyed. All buffers together,
   * in use and idle, take at most `capBytes`.
   */
  constructor(device: GPUDevice, idleCapBytes = IDLE_CAP_BYTES, capBytes = Number.POSITIVE_INFINITY) {
    this.#device = device;
    this.capBytes = capBytes;
    this.#idleCapBytes = idleCapBytes;
  }

  /**
   * A buffer of at least that size: zeros all through, or `overwritten` with whatever bytes its last user left, for
   * who shows no shader and no copy a byte of it that was not written first. Fails with `out-of-memory` where it would
   * not fit under the cap beside what is in use; nothing was asked of the driver then.
   */
  acquire(sizeBytes: number, usage: GPUBufferUsageFlags, content: Content = "zeros"): GPUBuffer {
    const size = Math.min(sizeClassOf(sizeBytes), Math.max(sizeBytes, this.#device.limits.maxBufferSize));
    const waiting = this.#idle.get(`${usage}:${size}`)?.pop();
    if (waiting !== undefined) {
      this.counters.reused++;
      this.counters.idleBytes -= size;
      // A new one holds zeros by WebGPU's rules.
      if (content === "zeros") this.#clear(waiting);
    } else this.#makeRoom(size);
    const buffer = waiting ?? this.#device.createBuffer({ size, usage });
    this.counters.liveBytes += size;
    if (waiting === undefined) this.counters.created++;
    this.counters.peakBytes = Math.max(this.counters.peakBytes, this.counters.liveBytes + this.counters.idleBytes);
    return buffer;
  }

  /** Like `acquire`, and asks the driver whether the buffer is there: fails with `out-of-memory` where it is not. */
  async acquireSurely(sizeBytes: number, usage: GPUBufferUsageFlags): Promise<GPUBuffer> {
    let buffer: GPUBuffer | undefined;
    try {
      return await withErrorScopes(this.#device, () => (buffer = this.acquire(sizeBytes, usage)));
    } catch (error) {
      if (buffer !== undefined) this.discard(buffer);
      throw error;
    }
  }

  /**
   * A pool for work that shall not meet buffers of this one: what waits here is destroyed, and what is left under the
   * cap is the other's.
   */
  splitOff(idleCapBytes = IDLE_CAP_BYTES): BufferPool {
    this.destroy();
    return new BufferPool(this.#device, idleCapBytes, this.capBytes - this.counters.liveBytes);
  }

  /** Takes a buffer back; it must be unmapped, and no submitted work may still use it. What cannot be cleared is not kept. */
  release(buffer: GPUBuffer): void {
    this.counters.liveBytes -= buffer.size;
    const isClearable = (buffer.usage & COPY_DST) !== 0;
    if (!isClearable || this.counters.idleBytes + buffer.size > this.#idleCapBytes) {
      this.#destroy(buffer);
      return;
    }
    const key = `${buffer.usage}:${buffer.size}`;
    const waiting = this.#idle.get(key) ?? [];
    waiting.push(buffer);
    // Behind all others: the kind that was used last goes last.
    this.#idle.delete(key);
    this.#idle.set(key, waiting);
    this.counters.idleBytes += buffer.size;
  }

  /** Takes a buffer back that is not to be used again: it could not be had, or nobody knows what it is. */
  discard(buffer: GPUBuffer): void {
    this.counters.liveBytes -= buffer.size;
    this.counters.destroyed++;
    buffer.destroy();
  }

  /** Destroys everything that waits. */
  destroy(): void {
    for (const buffer of [...this.#idle.values()].flat()) this.#destroy(buffer);
    this.#idle.clear();
    this.counters.idleBytes = 0;
  }

  /** Lets waiting buffers go, those of the longest unused kind first, until so many bytes more fit under the cap. */
  #makeRoom(sizeBytes: number): void {
    const { counters, capBytes } = this;
    if (counters.liveBytes + sizeBytes > capBytes) {
      counters.refused++;
      const detail = `${sizeBytes} bytes do not fit: ${counters.liveBytes} of the device's ${capBytes} are in use`;
      throw new ProblemError("out-of-memory", detail);
    }
    for (const [key, waiting] of this.#idle) {
      while (waiting.length > 0 && counters.liveBytes + counters.idleBytes + sizeBytes > capBytes) {
        const buffer = waiting.pop();
        if (buffer === undefined) break;
        counters.idleBytes -= buffer.size;
        this.#destroy(buffer);
      }
      if (waiting.length === 0) this.#idle.delete(key);
    }
  }

  #clear(buffer: GPUBuffer): void {
    const encoder = this.#device.createCommandEncoder();
    encoder.clearBuffer(buffer);
    this.#device.queue.submit([encoder.finish()]);
  }

  #destroy(buffer: GPUBuffer): void {
    this.counters.destroyed++;
    buffer.destroy();
  }
}

/**
 * Bytes that a buffer for so many takes: powers of two up to 1 MiB, whole MiB above. At most half of a
 * small buffer is wasted, little of a large one.
 */
export function sizeClassOf(sizeBytes: number): number {
  if (sizeBytes > MiB) return Math.ceil(sizeBytes / MiB) * MiB;
  return Math.max(256, 2 ** Math.ceil(Math.log2(Math.max(1, sizeBytes))));
}
