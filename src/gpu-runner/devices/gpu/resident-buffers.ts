import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { BufferPool } from "./buffer-pool.ts";
import { withErrorScopes } from "./error-scopes.ts";
import { readBuffer } from "./readback.ts";
import { shareCoreUntil } from "./wait-for-gpu.ts";

interface Resident {
  readonly buffer: GPUBuffer;
  readonly sizeBytes: number;
}

/** Data that stay on the device between dispatches, such as weights, by name. They end with the process. */
export class ResidentBuffers {
  readonly #device: GPUDevice;
  readonly #pool: BufferPool;
  readonly #residents = new Map<string, Resident>();

  constructor(device: GPUDevice, pool: BufferPool) {
    this.#device = device;
    this.#pool = pool;
  }

  /** Uploads bytes and waits for their arrival; replaces any of this name. Fails with `out-of-memory`. */
  async put(key: string, bytes: Uint8Array): Promise<void> {
    this.drop(key);
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const buffer = await this.#pool.acquireSurely(paddedSizeOf(bytes.byteLength), usage);
    try {
      await withErrorScopes(this.#device, () => this.#write(buffer, bytes));
      await shareCoreUntil(this.#device.queue.onSubmittedWorkDone());
    } catch (error) {
      this.#pool.discard(buffer);
      throw error;
    }
    this.#residents.set(key, { buffer, sizeBytes: bytes.byteLength });
  }

  /** Bytes from the device. Fails with `not-found` for an unknown name. */
  async read(key: string): Promise<Uint8Array> {
    const resident = this.#residents.get(key);
    if (resident === undefined) throw new ProblemError("not-found", `Nothing is resident as ${key}.`);
    const padded = await readBuffer(this.#device, this.#pool, resident.buffer, paddedSizeOf(resident.sizeBytes));
    return new Uint8Array(padded, 0, resident.sizeBytes);
  }

  /** Buffer for kernels to read. Fails with `not-found` for an unknown name. */
  bufferOf(key: string): GPUBuffer {
    const resident = this.#residents.get(key);
    if (resident === undefined) throw new ProblemError("not-found", `Nothing is resident as ${key}.`);
    return resident.buffer;
  }

  /** Releases the buffer; an unknown name is no error. */
  drop(key: string): void {
    const resident = this.#residents.get(key);
    this.#residents.delete(key);
    if (resident !== undefined) this.#pool.release(resident.buffer);
  }

  /** Queue writes are in words: odd bytes at the end are padded to a separate word. */
  #write(buffer: GPUBuffer, bytes: Uint8Array): void {
    const wholeBytes = bytes.byteLength - (bytes.byteLength % 4);
    this.#device.queue.writeBuffer(buffer, 0, bytes.subarray(0, wholeBytes) as Uint8Array<ArrayBuffer>);
    if (wholeBytes === bytes.byteLength) return;
    const rest = new Uint8Array(4);
    rest.set(bytes.subarray(wholeBytes));
    this.#device.queue.writeBuffer(buffer, wholeBytes, rest);
  }
}

function paddedSizeOf(sizeBytes: number): number {
  return Math.max(4, Math.ceil(sizeBytes / 4) * 4);
}
