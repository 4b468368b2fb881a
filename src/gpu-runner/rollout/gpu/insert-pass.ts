import { MAX_GROUPS } from "../../../../kernels/webgpu-limits.ts";
import type { BufferPool } from "../../devices/gpu/buffer-pool.ts";
import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { readBuffer } from "../../devices/gpu/readback.ts";
import { addDispatch, type RolloutProgram, storageUsage, uniformUsage } from "./rollout-program.ts";
import { ADDITION, type ArchiveGrid, type Elites } from "../archive.ts";
import { countCells, listEdges } from "../archive-grid.ts";
import { archivePrograms } from "./compose-archive.ts";
import type { Judged } from "../elite-book.ts";

/** Words of a cell and of an addition; see insert.wgsl. */
const CELL_WORDS = 7;
const ADDITION_WORDS = 4;
const WON = 4;
const ENTRY_POINTS = ["judge", "choose", "settle"];

/** Thresholds on a device, and the judgement of members against them; see insert.wgsl. */
export class InsertPass {
  readonly #device: GPUDevice;
  readonly #pool: BufferPool;
  readonly #grid: ArchiveGrid;
  readonly #lanes: number;
  readonly #program: RolloutProgram;
  readonly #dims: GPUBuffer;
  readonly #edges: GPUBuffer;
  readonly #cells: GPUBuffer;

  static async open(gpu: { device: GPUDevice; pool: BufferPool }, grid: ArchiveGrid, lanes: number) {
    const cells = await gpu.pool.acquireSurely(4 * CELL_WORDS * countCells(grid), storageUsage());
    return new InsertPass(gpu, grid, lanes, cells);
  }

  private constructor(
    { device, pool }: { readonly device: GPUDevice; readonly pool: BufferPool },
    grid: ArchiveGrid,
    lanes: number,
    cells: GPUBuffer,
  ) {
    this.#device = device;
    this.#pool = pool;
    this.#grid = grid;
    this.#lanes = lanes;
    this.#program = archivePrograms(device).insert;
    this.#cells = cells;
    this.#dims = this.#upload(Uint32Array.from(grid.dims));
    const edges = listEdges(grid);
    // A single cell has no edges, and an empty buffer cannot be bound.
    this.#edges = this.#upload(edges.length === 0 ? new Float32Array(1) : edges);
    this.#clear();
  }

  /** Judges a batch, and moves the thresholds of the winners' cells. */
  async judge(fitness: Float32Array<ArrayBuffer>, measures: Float32Array<ArrayBuffer>): Promise<Judged> {
    const pipelines = await Promise.all(ENTRY_POINTS.map((entry) => this.#program.pipeline(entry, this.#lanes)));
    const count = fitness.length;
    const most = MAX_GROUPS * this.#lanes;
    if (count > most) throw new RangeError(`a batch of ${count} is more than ${most}`);
    if (count === 0) return readAdditions(new ArrayBuffer(0), 0);
    const [offered, behaviour] = [this.#upload(fitness), this.#upload(measures)];
    const additions = this.#pool.acquire(4 * ADDITION_WORDS * count, storageUsage());
    const plan = this.#pool.acquire(32, uniformUsage());
    this.#device.queue.writeBuffer(plan, 0, this.#plan(fitness));
    const bytes = await withErrorScopes(this.#device, () => {
      const encoder = this.#device.createCommandEncoder();
      for (const [index, pipeline] of pipelines.entries()) {
        const pass = encoder.beginComputePass();
        const isFirst = index === 0;
        const only = (buffer: GPUBuffer) => (isFirst ? buffer : null);
        const buffers = [plan, only(this.#dims), only(this.#edges), offered, only(behaviour), this.#cells, additions];
        addDispatch(this.#device, pass, pipeline, buffers, [Math.ceil(count / this.#lanes), 1]);
        pass.end();
      }
      this.#device.queue.submit([encoder.finish()]);
      return readBuffer(this.#device, this.#pool, additions, 4 * ADDITION_WORDS * count);
    });
    for (const buffer of [offered, behaviour, additions, plan]) this.#pool.release(buffer);
    return readAdditions(bytes, count);
  }

  /** Loads the thresholds of other elites. */
  write({ cells, thresholds }: Elites): void {
    this.#clear();
    const words = new Uint32Array(CELL_WORDS * countCells(this.#grid));
    const floats = new Float32Array(words.buffer);
    for (const [slot, cell] of cells.entries()) {
      words[CELL_WORDS * cell] = 1;
      floats[CELL_WORDS * cell + 1] = thresholds[slot]!;
    }
    this.#device.queue.writeBuffer(this.#cells, 0, words);
  }

  release(): void {
    for (const buffer of [this.#dims, this.#edges, this.#cells]) this.#pool.release(buffer);
  }

  #plan(fitness: Float32Array): Uint32Array<ArrayBuffer> {
    const { annealing, dims } = this.#grid;
    const plan = new Uint32Array(8);
    const floats = new Float32Array(plan.buffer);
    const exponent = largestExponent(fitness);
    plan.set([fitness.length, dims.length, annealing === null ? 0 : 1, exponent]);
    floats.set([annealing?.thresholdMin ?? 0, 1 - (annealing?.learningRate ?? 1), 2 ** (exponent - 168)], 4);
    return plan;
  }

  #upload(numbers: Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>): GPUBuffer {
    const buffer = this.#pool.acquire(numbers.byteLength, storageUsage());
    this.#device.queue.writeBuffer(buffer, 0, numbers);
    return buffer;
  }

  #clear(): void {
    const encoder = this.#device.createCommandEncoder();
    encoder.clearBuffer(this.#cells);
    this.#device.queue.submit([encoder.finish()]);
  }
}

/** Exponent bits of the largest finite fitness as a float, at least 1. */
function largestExponent(fitness: Float32Array): number {
  let largest = 1;
  for (const bits of new Uint32Array(fitness.buffer, fitness.byteOffset, fitness.length)) {
    const exponent = (bits >>> 23) & 0xff;
    if (exponent !== 0xff && exponent > largest) largest = exponent;
  }
  return largest;
}

function readAdditions(bytes: ArrayBuffer, count: number): Judged {
  const words = new Uint32Array(bytes);
  const floats = new Float32Array(bytes);
  const statuses = new Uint8Array(count);
  const values = new Float32Array(count);
  const winners: number[] = [];
  for (let index = 0; index < count; index++) {
    const status = words[ADDITION_WORDS * index + 1]!;
    statuses[index] = status & ~WON;
    values[index] = statuses[index] === ADDITION.refused ? Number.NaN : floats[ADDITION_WORDS * index + 2]!;
    if ((status & WON) !== 0) winners.push(index);
  }
  return {
    statuses,
    values,
    winners: Uint32Array.from(winners),
    cells: Uint32Array.from(winners, (winner) => words[ADDITION_WORDS * winner]!),
    thresholds: Float32Array.from(winners, (winner) => floats[ADDITION_WORDS * winner + 3]!),
  };
}
