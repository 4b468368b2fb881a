const MiB = 2 ** 20;

/** Buffers of one device, reused by size class and usage; JavaScript's collector never frees one. */
export class BufferPool {
  readonly counters = { created: 0, reused: 0, destroyed: 0, liveBytes: 0, idleBytes: 0 };
  readonly #device: GPUDevice;
  readonly #idleCapBytes: number;
  readonly #idle = new Map<string, GPUBuffer[]>();

  /** At most `idleCapBytes` wait for reuse; what comes back beyond that is destroyed. */
  constructor(device: GPUDevice, idleCapBytes = 256 * MiB) {
    this.#device = device;
    this.#idleCapBytes = idleCapBytes;
  }

  /** A buffer of at least that size, with whatever bytes its last user left. */
  acquire(sizeBytes: number, usage: GPUBufferUsageFlags): GPUBuffer {
    const size = Math.min(sizeClass(sizeBytes), Math.max(sizeBytes, this.#device.limits.maxBufferSize));
    const waiting = this.#idle.get(`${usage}:${size}`)?.pop();
    this.counters.liveBytes += size;
    if (waiting !== undefined) {
      this.counters.reused++;
      this.counters.idleBytes -= size;
      return waiting;
    }
    this.counters.created++;
    return this.#device.createBuffer({ size, usage });
  }

  /** Takes a buffer back; it must be unmapped, and no submitted work may still use it. */
  release(buffer: GPUBuffer): void {
    this.counters.liveBytes -= buffer.size;
    if (this.counters.idleBytes + buffer.size > this.#idleCapBytes) {
      this.counters.destroyed++;
      buffer.destroy();
      return;
    }
    const key = `${buffer.usage}:${buffer.size}`;
    const waiting = this.#idle.get(key);
    if (waiting === undefined) this.#idle.set(key, [buffer]);
    else waiting.push(buffer);
    this.counters.idleBytes += buffer.size;
  }

  /** Destroys everything that waits. */
  destroy(): void {
    for (const buffer of [...this.#idle.values()].flat()) {
      this.counters.destroyed++;
      buffer.destroy();
    }
    this.#idle.clear();
    this.counters.idleBytes = 0;
  }
}

/** Powers of two up to 1 MiB, whole MiB above: at most half of a small buffer is wasted, little of a large one. */
function sizeClass(sizeBytes: number): number {
  if (sizeBytes > MiB) return Math.ceil(sizeBytes / MiB) * MiB;
  return Math.max(256, 2 ** Math.ceil(Math.log2(Math.max(1, sizeBytes))));
}
