import type { BufferPool } from "../../devices/gpu/buffer-pool.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { readBuffer } from "../../devices/gpu/readback.ts";
import type { PartWeights } from "./breed-pass.ts";
import { storageUsage } from "./rollout-program.ts";
import type { MemberPart, PopulationPlan } from "./member-parts.ts";

/**
 * Storage of the weights of a population's parts: a buffer for each, or, where the device has no room for all, one
 * buffer in turn, with the others on the host.
 */
export class WeightShelf {
  readonly parts: readonly MemberPart[];
  readonly #device: GPUDevice;
  readonly #pool: BufferPool;
  readonly #bytesOf: (part: MemberPart) => number;
  #buffers: readonly GPUBuffer[];
  /** Parts on the host, in the device's layout. */
  readonly #kept: (Uint8Array<ArrayBuffer> | null)[];
  /** Part that is in the single buffer. */
  #present: number | null = null;

  private constructor(
    { device, pool }: { readonly device: GPUDevice; readonly pool: BufferPool },
    parts: readonly MemberPart[],
    bytesOf: (part: MemberPart) => number,
    buffers: readonly GPUBuffer[],
  ) {
    this.#device = device;
    this.#pool = pool;
    this.parts = parts;
    this.#bytesOf = bytesOf;
    this.#buffers = buffers;
    this.#kept = parts.map(() => null);
  }

  /** Fails with `out-of-memory` where the device has less room than planned. */
  static async open(
    place: { readonly device: GPUDevice; readonly pool: BufferPool },
    { parts, resident }: PopulationPlan,
    parameters: number,
  ): Promise<WeightShelf> {
    const bytesOf = ({ count }: MemberPart) => 4 * parameters * count;
    const buffers: GPUBuffer[] = [];
    try {
      for (const part of resident ? parts : parts.slice(0, 1)) {
        buffers.push(await place.pool.acquireSurely(bytesOf(part), storageUsage()));
      }
    } catch (error) {
      for (const buffer of buffers) place.pool.discard(buffer);
      throw error;
    }
    return new WeightShelf(place, parts, bytesOf, buffers);
  }

  /** Buffer with a part's weights, until another part is requested. */
  async take(index: number): Promise<GPUBuffer> {
    const own = this.#buffers[index];
    if (this.#buffers.length === this.parts.length) return own!;
    const buffer = this.#buffers[0]!;
    if (this.#present === index) return buffer;
    if (this.#present !== null) await this.#keep(this.#present, buffer);
    const kept = this.#kept[index] ?? null;
    if (kept !== null) this.#device.queue.writeBuffer(buffer, 0, kept);
    this.#present = index;
    return buffer;
  }

  /** All parts with their buffers. Fails with `out-of-memory` where the device has no room for all. */
  takeAll(): PartWeights[] {
    if (this.#buffers.length < this.parts.length) {
      const detail = "The population exceeds the device's memory, and this needs the whole of it there";
      throw new ProblemError("out-of-memory", detail);
    }
    return this.parts.map((part, index) => ({ ...part, weights: this.#buffers[index]! }));
  }

  /** Replaces the buffers of all parts. */
  replace(buffers: readonly GPUBuffer[]): void {
    this.release();
    this.#buffers = buffers;
  }

  release(): void {
    for (const buffer of this.#buffers) this.#pool.release(buffer);
  }

  async #keep(index: number, buffer: GPUBuffer): Promise<void> {
    const sizeBytes = this.#bytesOf(this.parts[index]!);
    this.#kept[index] = new Uint8Array(await readBuffer(this.#device, this.#pool, buffer, sizeBytes));
  }
}
