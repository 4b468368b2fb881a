import { drawNoise } from "../../../kernels/rollout/noise.reference.ts";
import { multiplyHigh, philox4x32 } from "../../stats/random/draws.ts";
import type { Archive, ArchiveGrid, Emission } from "../rollout/archive.ts";
import { createJudge, EliteBook } from "../rollout/elite-book.ts";
import type { Population } from "../rollout/population.ts";

/** Random stream of parents; see emit.wgsl. */
const PARENT_STREAM = 5;

interface EmittedRows extends Emission {
  readonly members: number;
  readonly parameters: number;
}

/**
 * Children of random elites, members × parameters: x₁ + σ·N(0, I) + σ_line·(x₂ − x₁)·N(0, 1) within the bounds; without
 * a line the Gaussian operator. In f64, with the random words of emit.wgsl.
 * Source: Vassiliades and Mouret, GECCO 2018.
 */
function emitRows(
  elites: Float32Array,
  { seed, generation, sigma, lineSigma, low, high, members, parameters }: EmittedRows,
): Float32Array<ArrayBuffer> {
  const rows = new Float32Array(members * parameters);
  const filled = elites.length / parameters;
  // The block of noise after those of the parameters is for the step along the line.
  const lineAt = 4 * Math.ceil(parameters / 4);
  for (let member = 0; member < members; member++) {
    const [first, second] = philox4x32([member, generation, 0, 0], [seed, PARENT_STREAM]);
    const [one, other] = [multiplyHigh(first, filled) * parameters, multiplyHigh(second, filled) * parameters];
    const noise = drawNoise({ seed, generation, mirrored: false }, member, lineAt + 1);
    const along = lineSigma * noise[lineAt]!;
    for (let parameter = 0; parameter < parameters; parameter++) {
      const start = elites[one + parameter]!;
      const value = start + sigma * noise[parameter]! + along * (elites[other + parameter]! - start);
      rows[member * parameters + parameter] = Math.min(Math.max(value, low), high);
    }
  }
  return rows;
}

/** Archive in typed arrays, for a population in the host's memory: the reference of the one on a GPU. */
export function openHostArchive(
  population: Pick<Population, "members" | "parameters" | "read" | "write">,
  grid: ArchiveGrid,
): Archive {
  const { members, parameters } = population;
  const book = new EliteBook(grid);
  const judge = createJudge(grid, book);
  let genomes = new Float32Array(0);

  /** Room for this many genomes; at least twice the previous size, so that they are seldom moved. */
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
