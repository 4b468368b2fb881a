import type { Population } from "../rollout/population.ts";
import type { Archive, ArchiveGrid } from "./archive.ts";
import { EliteBook } from "./elite-book.ts";
import { emitRows } from "./emit-rows.ts";
import { createJudge } from "./judge-batch.ts";

/** An archive in typed arrays, for a population whose rows are in the host's memory: the reference of the one on a GPU. */
export function openHostArchive(
  population: Pick<Population, "members" | "parameters" | "read" | "write">,
  grid: ArchiveGrid,
): Archive {
  const { members, parameters } = population;
  const book = new EliteBook(grid);
  const judge = createJudge(grid, book);
  let genomes = new Float32Array(0);

  /** Room for so many genomes; at least twice what there was, so that they are seldom moved. */
  function makeRoom(count: number): void {
    if (count * parameters <= genomes.length) return;
    const larger = new Float32Array(Math.max(count, 2 * (genomes.length / parameters)) * parameters);
    larger.set(genomes);
    genomes = larger;
  }

  return {
    grid,
    get filled() {
      return book.filled;
    },
    async add(fitness, measures) {
      const judged = judge(fitness, measures);
      const rows = judged.winners.length === 0 ? new Float32Array(0) : await population.read(0, fitness.length);
      const slots = book.admit(judged, fitness, measures);
      makeRoom(book.filled);
      for (const [at, slot] of slots.entries()) {
        const from = judged.winners[at]! * parameters;
        genomes.set(rows.subarray(from, from + parameters), slot * parameters);
      }
      return judged;
    },
    async emit(emission) {
      if (book.filled === 0) throw new RangeError("there are no elites to make members of");
      const elites = genomes.subarray(0, book.filled * parameters);
      await population.write(0, emitRows(elites, { ...emission, members, parameters }));
    },
    read: async () => ({ ...book.read(), genomes: genomes.slice(0, book.filled * parameters) }),
    async write(elites) {
      book.write(elites);
      makeRoom(book.filled);
      genomes.set(elites.genomes);
    },
    release: async () => void (genomes = new Float32Array(0)),
  };
}
