import type { BufferPool } from "../gpu/buffer-pool.ts";
import type { MemberPart } from "../rollout/member-parts.ts";
import type { Archive, ArchiveGrid } from "./archive.ts";
import { EliteBook } from "./elite-book.ts";
import { GenomeStore } from "./genome-store.ts";
import { InsertPass } from "./insert-pass.ts";

/** The population on the device that the archive's elites come from. */
export interface HeldMembers {
  readonly parameters: number;
  readonly parts: readonly MemberPart[];
  /** A part's weights, until another part is asked for: parameter p of its member m stands at p · count + m. */
  take(index: number): Promise<GPUBuffer>;
}

/**
 * An archive on a GPU: who gets in is judged there, and genomes never leave it but to be read. What else is known of
 * elites is kept on the host, which has it anyway. `lanes` changes nothing but the speed.
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
