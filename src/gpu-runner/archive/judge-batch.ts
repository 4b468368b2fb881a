import { ADDITION, type Additions, type ArchiveGrid } from "./archive.ts";
import { countCells, createLocator } from "./archive-grid.ts";
import type { EliteBook } from "./elite-book.ts";

/** What became of a batch: those that are elites now, in the order in which they were offered. */
export interface Judged extends Additions {
  readonly winners: Uint32Array<ArrayBuffer>;
  /** Of each winner. */
  readonly cells: Uint32Array<ArrayBuffer>;
  readonly thresholds: Float32Array<ArrayBuffer>;
}

/** Judges what is offered; the book stays as it is. */
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

/** t ← (1 − α)ⁿ t + mean(f)(1 − (1 − α)ⁿ), the batch rule of CMA-MAE (Fontaine and Nikolaidis 2023, appendix). */
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
