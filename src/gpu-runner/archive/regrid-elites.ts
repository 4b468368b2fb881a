import type { ArchiveGrid, Elites } from "./archive.ts";
import { EliteBook } from "./elite-book.ts";
import { createJudge } from "./judge-batch.ts";

/** Elites of another grid over the same measures: the best of each cell. Of the same grid they all stay, in their order. */
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
