import type { BufferPool } from "../../devices/gpu/buffer-pool.ts";
import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { readBuffer } from "../../devices/gpu/readback.ts";
import { shareCoreUntil } from "../../devices/gpu/wait-for-gpu.ts";
import type { Archive, ArchiveGrid, Emission } from "../archive.ts";
import { EliteBook } from "../elite-book.ts";
import { archivePrograms } from "./compose-archive.ts";
import { InsertPass } from "./insert-pass.ts";
import type { MemberPart } from "./member-parts.ts";
import { addDispatch, type RolloutProgram, storageUsage, uniformUsage } from "./rollout-program.ts";

/** Population on the device whose members the archive's elites come from. */
interface HeldMembers {
  readonly parameters: number;
  readonly parts: readonly MemberPart[];
  /** Weights of a part, until another part is requested: parameter p of its member m is at p · count + m. */
  take(index: number): Promise<GPUBuffer>;
}

/**
 * Archive on a GPU: additions are judged there, and genomes leave it only when they are read. Other data of elites is
 * kept on the host, which has it anyway. `lanes` changes only the speed.
 */
export async function openGpuArchive(
  gpu: { readonly device: GPUDevice; readonly pool: BufferPool },
  held: HeldMembers,
  grid: ArchiveGrid,
  lanes = 64,
): Promise<Archive> {
  const book = new EliteBook(grid);
  const insertion = await InsertPass.open(gpu, grid, lanes);
  const genomes = new GenomeStore(gpu, held, lanes);
  return {
    grid,
    get filled() {
      return book.filled;
    },
    async add(fitness, measures) {
      const judged = await insertion.judge(fitness, measures);
      const slots = book.admit(judged, fitness, measures);
      await genomes.keep(judged.winners, slots, book.filled);
      return judged;
    },
    async emit(emission) {
      if (book.filled === 0) throw new RangeError("there are no elites to make members of");
      await genomes.emit(emission, book.filled);
    },
    read: async () => ({ ...book.read(), genomes: await genomes.read(book.filled) }),
    async write(elites) {
      book.write(elites);
      insertion.write(elites);
      await genomes.write(elites.genomes);
    },
    async release() {
      insertion.release();
      genomes.release();
    },
  };
}

/** Workgroups along the second axis; the kernel loops over the rest. */
const MAX_ROWS = 1_024;
/** Parameters per invocation, since it draws the member's parents once for all of them. */
const EMITTED_AT_ONCE = 32;

/** Genomes of elites on a device, one row per slot, and their copies from and to members. */
class GenomeStore {
  readonly #device: GPUDevice;
  readonly #pool: BufferPool;
  readonly #held: HeldMembers;
  readonly #lanes: number;
  readonly #keep: RolloutProgram;
  readonly #emit: RolloutProgram;
  #genomes: GPUBuffer | null = null;
  #slots = 0;

  constructor(
    { device, pool }: { readonly device: GPUDevice; readonly pool: BufferPool },
    held: HeldMembers,
    lanes: number,
  ) {
    this.#device = device;
    this.#pool = pool;
    this.#held = held;
    this.#lanes = lanes;
    this.#keep = archivePrograms(device).keep;
    this.#emit = archivePrograms(device).emit;
  }

  /** Copies members to slots; afterwards `filled` slots are in use. */
  async keep(members: Uint32Array, slots: Uint32Array, filled: number): Promise<void> {
    const genomes = await this.#makeRoom(filled);
    const pipeline = await this.#keep.pipeline("keep", this.#lanes);
    const { parts, parameters } = this.#held;
    await withErrorScopes(this.#device, async () => {
      for (const [index, { first, count }] of parts.entries()) {
        const moves = Array.from(members, (member, at) => [member - first, slots[at]!] as const).filter(
          ([member]) => member >= 0 && member < count,
        );
        if (moves.length === 0) continue;
        const weights = await this.#held.take(index);
        const words = Uint32Array.from(moves.flat());
        const buffer = this.#pool.acquire(words.byteLength, storageUsage());
        this.#device.queue.writeBuffer(buffer, 0, words);
        const groups = [Math.ceil(parameters / this.#lanes), Math.min(MAX_ROWS, moves.length)] as const;
        const plan = Uint32Array.of(moves.length, parameters, count, 0);
        this.#submit(pipeline, plan, [buffer, weights, genomes], groups);
        this.#pool.release(buffer);
      }
    });
  }

  /** Replaces every member with a child of elites; see emit.wgsl. */
  async emit({ seed, generation, sigma, lineSigma, low, high }: Emission, filled: number): Promise<void> {
    const genomes = await this.#makeRoom(filled);
    const pipeline = await this.#emit.pipeline("emit", this.#lanes);
    const { parts, parameters } = this.#held;
    await withErrorScopes(this.#device, async () => {
      for (const [index, { first, count }] of parts.entries()) {
        const weights = await this.#held.take(index);
        const plan = Uint32Array.of(count, first, parameters, filled, seed, generation, 0, 0, 0, 0, 0, 0);
        new Float32Array(plan.buffer).set([sigma, lineSigma, low, high], 6);
        const groups = [
          Math.ceil(count / this.#lanes),
          Math.min(MAX_ROWS, Math.ceil(parameters / EMITTED_AT_ONCE)),
        ] as const;
        this.#submit(pipeline, plan, [genomes, weights], groups);
      }
      await shareCoreUntil(this.#device.queue.onSubmittedWorkDone());
    });
  }

  /** Rows of the first slots. */
  async read(filled: number): Promise<Float32Array<ArrayBuffer>> {
    if (filled === 0) return new Float32Array(0);
    const genomes = await this.#makeRoom(filled);
    return new Float32Array(await readBuffer(this.#device, this.#pool, genomes, 4 * filled * this.#held.parameters));
  }

  async write(rows: Float32Array<ArrayBuffer>): Promise<void> {
    const genomes = await this.#makeRoom(rows.length / this.#held.parameters);
    this.#device.queue.writeBuffer(genomes, 0, rows);
  }

  release(): void {
    if (this.#genomes !== null) this.#pool.release(this.#genomes);
    this.#genomes = null;
    this.#slots = 0;
  }

  /**
   * Buffer for this many slots: at least twice the previous number, so that rows are seldom moved. Fails with
   * `out-of-memory` where the device has no room for them.
   */
  async #makeRoom(slots: number): Promise<GPUBuffer> {
    const before = this.#genomes;
    if (before !== null && slots <= this.#slots) return before;
    const rowBytes = 4 * this.#held.parameters;
    const most = Math.floor(this.#device.limits.maxStorageBufferBindingSize / rowBytes);
    const room = Math.max(slots, Math.min(Math.max(2 * this.#slots, 256), most));
    const larger = await this.#pool.acquireSurely(rowBytes * room, storageUsage());
    if (before !== null) {
      const encoder = this.#device.createCommandEncoder();
      encoder.copyBufferToBuffer(before, 0, larger, 0, rowBytes * this.#slots);
      this.#device.queue.submit([encoder.finish()]);
      this.#pool.release(before);
    }
    this.#genomes = larger;
    this.#slots = room;
    return larger;
  }

  #submit(
    pipeline: GPUComputePipeline,
    words: Uint32Array<ArrayBuffer>,
    buffers: readonly GPUBuffer[],
    workgroups: readonly [number, number],
  ): void {
    const plan = this.#pool.acquire(words.byteLength, uniformUsage());
    this.#device.queue.writeBuffer(plan, 0, words);
    const encoder = this.#device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    addDispatch(this.#device, pass, pipeline, [plan, ...buffers], workgroups);
    pass.end();
    this.#device.queue.submit([encoder.finish()]);
    // The queue runs submissions in order, so the next user of this buffer comes later.
    this.#pool.release(plan);
  }
}
