import type { FiledElites } from "../../protocol/archive-file.ts";
import type { PruneInput } from "../../protocol/archive.ts";

/**
 * The elites that stay, in their order: without the worst `dropShare` of them (rounded down; of equal ones those that
 * were found last go) and without those below `minFitness`.
 */
export function pruneElites(elites: FiledElites, { dropShare = 0, minFitness }: PruneInput): FiledElites {
  const { cells, fitness, measures, thresholds, genomes } = elites;
  const count = fitness.length;
  const worst = Array.from(fitness, (_, index) => index).toSorted((a, b) => fitness[a]! - fitness[b]! || b - a);
  const dropped = new Set(worst.slice(0, Math.floor(dropShare * count)));
  const floor = minFitness ?? Number.NEGATIVE_INFINITY;
  const kept = Array.from(fitness, (_, index) => index).filter(
    (index) => !dropped.has(index) && fitness[index]! >= floor,
  );
  return {
    cells: Uint32Array.from(kept, (index) => cells[index]!),
    fitness: Float32Array.from(kept, (index) => fitness[index]!),
    measures: pickRows(measures, count, kept),
    thresholds: Float32Array.from(kept, (index) => thresholds[index]!),
    genomes: pickRows(genomes, count, kept),
  };
}

function pickRows(rows: Float32Array, count: number, kept: readonly number[]): Float32Array<ArrayBuffer> {
  const width = count === 0 ? 0 : rows.length / count;
  const picked = new Float32Array(kept.length * width);
  for (const [to, from] of kept.entries()) picked.set(rows.subarray(from * width, (from + 1) * width), to * width);
  return picked;
}
