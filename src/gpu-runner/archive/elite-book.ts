import type { ArchiveGrid, Elites } from "./archive.ts";
import { countCells } from "./archive-grid.ts";
import type { Judged } from "./judge-batch.ts";

const NONE = -1;

/** What is known of an archive's elites but their genomes: slot by slot, in the order in which cells were found. */
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

  /** The slot of a cell's elite; -1: there is none. */
  slotOf(cell: number): number {
    return this.#slots[cell]!;
  }

  /** NaN of a cell without an elite. */
  thresholdOf(cell: number): number {
    const slot = this.#slots[cell]!;
    return slot === NONE ? Number.NaN : this.#thresholds[slot]!;
  }

  /** Notes the winners of a batch, and gives the slot of each. */
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

  /** Takes the place of all that was noted. Throws a `RangeError` where a cell is not of the grid or there twice. */
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
