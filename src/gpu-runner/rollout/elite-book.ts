import { countCells, createLocator } from "./archive-grid.ts";
import { ADDITION, type Additions, type ArchiveGrid, type Elites } from "./archive.ts";

/** Outcome of a batch: the new elites, in the order in which they were offered. */
export interface Judged extends Additions {
  readonly winners: Uint32Array<ArrayBuffer>;
  /** Cell of each winner. */
  readonly cells: Uint32Array<ArrayBuffer>;
  readonly thresholds: Float32Array<ArrayBuffer>;
}

/** Judges a batch without a change to the book. */
export type JudgeBatch = (fitness: Float32Array, measures: Float32Array) => Judged;

const NOBODY = -1;

/** Judges batches over typed arrays: the reference of insert.wgsl, in the same terms. */
export function createJudge(grid: ArchiveGrid, book: EliteBook): JudgeBatch {
  const { annealing } = grid;
  const locate = createLocator(grid);
  const axes = grid.dims.length;
  const cells = countCells(grid);
  const best = new Int32Array(cells).fill(NOBODY);
  const counts = new Uint32Array(annealing === null ? 0 : cells);
  const sums = new Float64Array(annealing === null ? 0 : cells);
  return (fitness, measures) => {
    const statuses = new Uint8Array(fitness.length);
    const values = new Float32Array(fitness.length);
    const contested: number[] = [];
    for (let index = 0; index < fitness.length; index++) {
      const offered = fitness[index]!;
      const cell = Number.isFinite(offered) ? locate(measures, index * axes) : NOBODY;
      if (cell === NOBODY) {
        statuses[index] = ADDITION.refused;
        values[index] = Number.NaN;
        continue;
      }
      const isNew = book.slotOf(cell) === NOBODY;
      const threshold = isNew ? (annealing?.thresholdMin ?? Number.NEGATIVE_INFINITY) : book.thresholdOf(cell);
      values[index] = offered - (isNew && annealing === null ? 0 : threshold);
      if (!(offered > threshold)) continue;
      statuses[index] = isNew ? ADDITION.new : ADDITION.improved;
      const rival = best[cell]!;
      if (rival === NOBODY) contested.push(cell);
      if (rival === NOBODY || offered > fitness[rival]!) best[cell] = index;
      if (annealing !== null) {
        counts[cell]!++;
        sums[cell]! += offered;
      }
    }
    contested.sort((a, b) => best[a]! - best[b]!);
    const won = Uint32Array.from(contested);
    const winners = won.map((cell) => best[cell]!);
    const thresholds = Float32Array.from(contested, (cell, at) =>
      annealing === null
        ? fitness[winners[at]!]!
        : moveThreshold(annealing, book.thresholdOf(cell), sums[cell]!, counts[cell]!),
    );
    for (const cell of contested) {
      best[cell] = NOBODY;
      if (annealing !== null) counts[cell] = sums[cell] = 0;
    }
    return { statuses, values, winners, cells: won, thresholds };
  };
}

/**
 * t ← (1 − α)ⁿ t + mean(f)(1 − (1 − α)ⁿ), the batch rule of CMA-MAE.
 * Source: Fontaine and Nikolaidis 2023, appendix.
 */
function moveThreshold(
  { learningRate, thresholdMin }: NonNullable<ArchiveGrid["annealing"]>,
  threshold: number,
  sum: number,
  count: number,
): number {
  const kept = (1 - learningRate) ** count;
  const before = Number.isNaN(threshold) ? thresholdMin : threshold;
  return kept * before + (sum / count) * (1 - kept);
}

const NONE = -1;

/** Data of an archive's elites except their genomes: slot by slot, in the order in which cells were found. */
export class EliteBook {
  filled = 0;
  readonly #axes: number;
  readonly #slots: Int32Array<ArrayBuffer>;
  readonly #cells: Uint32Array<ArrayBuffer>;
  readonly #fitness: Float32Array<ArrayBuffer>;
  readonly #measures: Float32Array<ArrayBuffer>;
  readonly #thresholds: Float32Array<ArrayBuffer>;

  constructor(grid: ArchiveGrid) {
    const cells = countCells(grid);
    this.#axes = grid.dims.length;
    this.#slots = new Int32Array(cells).fill(NONE);
    this.#cells = new Uint32Array(cells);
    this.#fitness = new Float32Array(cells);
    this.#measures = new Float32Array(cells * this.#axes);
    this.#thresholds = new Float32Array(cells);
  }

  /** Slot of a cell's elite; -1 for none. */
  slotOf(cell: number): number {
    return this.#slots[cell]!;
  }

  /** Threshold of a cell; NaN without an elite. */
  thresholdOf(cell: number): number {
    const slot = this.#slots[cell]!;
    return slot === NONE ? Number.NaN : this.#thresholds[slot]!;
  }

  /** Records the winners of a batch, and returns the slot of each. */
  admit(
    { winners, cells, thresholds }: Judged,
    fitness: Float32Array,
    measures: Float32Array,
  ): Uint32Array<ArrayBuffer> {
    const axes = this.#axes;
    return winners.map((winner, at) => {
      const cell = cells[at]!;
      if (this.#slots[cell] === NONE) {
        this.#cells[this.filled] = cell;
        this.#slots[cell] = this.filled++;
      }
      const slot = this.#slots[cell]!;
      this.#fitness[slot] = fitness[winner]!;
      this.#thresholds[slot] = thresholds[at]!;
      for (let axis = 0; axis < axes; axis++) this.#measures[slot * axes + axis] = measures[winner * axes + axis]!;
      return slot;
    });
  }

  read(): Omit<Elites, "genomes"> {
    const { filled } = this;
    return {
      cells: this.#cells.slice(0, filled),
      fitness: this.#fitness.slice(0, filled),
      measures: this.#measures.slice(0, filled * this.#axes),
      thresholds: this.#thresholds.slice(0, filled),
    };
  }

  /** Replaces all records. Throws a `RangeError` for a cell outside the grid or one that occurs twice. */
  write({ cells, fitness, measures, thresholds }: Omit<Elites, "genomes">): void {
    this.#slots.fill(NONE);
    this.filled = 0;
    for (const cell of cells) {
      if (this.#slots[cell] !== NONE) throw new RangeError(`cell ${cell} is not of this grid, or there twice`);
      this.#slots[cell] = this.filled++;
    }
    this.#cells.set(cells);
    this.#fitness.set(fitness);
    this.#measures.set(measures);
    this.#thresholds.set(thresholds);
  }
}

/** Elites in another grid over the same measures: the best of each cell. In the same grid all stay, in their order. */
export function regridElites({ fitness, measures, genomes }: Elites, grid: ArchiveGrid): Elites {
  const plain = { ...grid, annealing: null };
  const book = new EliteBook(plain);
  const judged = createJudge(plain, book)(fitness, measures);
  book.admit(judged, fitness, measures);
  const parameters = genomes.length / Math.max(1, fitness.length);
  const kept = new Float32Array(judged.winners.length * parameters);
  for (const [slot, winner] of judged.winners.entries()) {
    kept.set(genomes.subarray(winner * parameters, (winner + 1) * parameters), slot * parameters);
  }
  return { ...book.read(), genomes: kept };
}
