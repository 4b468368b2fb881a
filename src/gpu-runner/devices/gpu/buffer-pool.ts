import { ProblemError } from "../../../protocol/wire/problem.ts";
import { withErrorScopes } from "./error-scopes.ts";

const MiB = 2 ** 20;
const IDLE_CAP_BYTES = 256 * MiB;
/** Value in `GPUBufferUsage`, which exists only once a device does. */
const COPY_DST = 0x8;

/** Content of a buffer from a pool: zeros, or data that its user writes before anything reads it. */
type Content = "zeros" | "overwritten";

/** Buffers of one device, reused by size class and usage; JavaScript's collector never frees one. */
export class BufferPool {
  readonly counters = {
    created: 0,
    reused: 0,
    destroyed: 0,
    /** Requests refused by the cap. */
    refused: 0,
    liveBytes: 0,
    idleBytes: 0,
    /** Peak bytes of live and idle buffers together. */
    peakBytes: 0,
  };
  readonly capBytes: number;
  readonly #device: GPUDevice;
  readonly #idleCapBytes: number;
  readonly #idle = new Map<string, GPUBuffer[]>();

  /**
   * At most `idleCapBytes` wait for reuse; buffers returned beyond that are destroyed. All buffers together, in use and
   * idle, have at most `capBytes`.
   */
  constructor(device: GPUDevice, idleCapBytes = IDLE_CAP_BYTES, capBytes = Number.POSITIVE_INFINITY) {
    this.#device = device;
    this.capBytes = capBytes;
    this.#idleCapBytes = idleCapBytes;
  }

  /**
   * Acquires a buffer of at least that size: all zeros, or `overwritten` with its last user's bytes, for users who
   * write every byte before a shader or copy reads it. Fails with `out-of-memory` where it would exceed the cap beside
   * the buffers in use, without a request to the driver.
   */
  acquire(sizeBytes: number, usage: GPUBufferUsageFlags, content: Content = "zeros"): GPUBuffer {
    const size = Math.min(sizeClassOf(sizeBytes), Math.max(sizeBytes, this.#device.limits.maxBufferSize));
    const waiting = this.#idle.get(`${usage}:${size}`)?.pop();
    if (waiting !== undefined) {
      this.counters.reused++;
      this.counters.idleBytes -= size;
      // A new buffer holds zeros by WebGPU's rules.
      if (content === "zeros") this.#clear(waiting);
    } else this.#makeRoom(size);
    const buffer = waiting ?? this.#device.createBuffer({ size, usage });
    this.counters.liveBytes += size;
    if (waiting === undefined) this.counters.created++;
    this.counters.peakBytes = Math.max(this.counters.peakBytes, this.counters.liveBytes + this.counters.idleBytes);
    return buffer;
  }

  /** Like `acquire`, and checks that the driver has the buffer: fails with `out-of-memory` where it does not. */
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
   * Splits off a pool for work that must not see this one's buffers: idle ones are destroyed, and the rest of the cap
   * moves to the other.
   */
  splitOff(idleCapBytes = IDLE_CAP_BYTES): BufferPool {
    this.destroy();
    return new BufferPool(this.#device, idleCapBytes, this.capBytes - this.counters.liveBytes);
  }

  /**
   * Returns a buffer; it must be unmapped, and no submitted work may still use it. One that cannot be cleared is not
   * kept.
   */
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
    // Moved to the end: the kind that was used last is destroyed last.
    this.#idle.delete(key);
    this.#idle.set(key, waiting);
    this.counters.idleBytes += buffer.size;
  }

  /** Returns a buffer that must not be reused: it is invalid or in an unknown state. */
  discard(buffer: GPUBuffer): void {
    this.counters.liveBytes -= buffer.size;
    this.counters.destroyed++;
    buffer.destroy();
  }

  /** Destroys all idle buffers. */
  destroy(): void {
    for (const buffer of [...this.#idle.values()].flat()) this.#destroy(buffer);
    this.#idle.clear();
    this.counters.idleBytes = 0;
  }

  /**
   * Destroys idle buffers, those of the least recently used kind first, until this many bytes more fit under the cap.
   */
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
 * Size class of a buffer in bytes: powers of two up to 1 MiB, whole MiB above. At most half of a small buffer is
 * wasted, little of a large one.
 */
export function sizeClassOf(sizeBytes: number): number {
  if (sizeBytes > MiB) return Math.ceil(sizeBytes / MiB) * MiB;
  return Math.max(256, 2 ** Math.ceil(Math.log2(Math.max(1, sizeBytes))));
}
