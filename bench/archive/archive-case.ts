import { readFile } from "node:fs/promises";
import { createLocator } from "../../src/gpu-runner/rollout/archive-grid.ts";
import type { Archive, ArchiveGrid } from "../../src/gpu-runner/rollout/archive.ts";
import { seededUniform } from "../../kernels/seeded-uniform.ts";

const SEED = 3;

/** Batches of members for a new archive, all in one file of f32. */
export interface ArchiveCase {
  readonly batch: number;
  readonly batches: number;
  readonly dims: readonly number[];
  readonly parameters: number;
  /** Genomes of a batch, the same in each; then fitness and measures batch by batch. */
  readonly dataFile: string;
}

/** Numbers of the file: genomes begin with the member's number; fitness and measures are uniform over [0, 1). */
export function writeCase({
  batch,
  batches,
  dims,
  parameters,
}: Omit<ArchiveCase, "dataFile">): Float32Array<ArrayBuffer> {
  const genomes = seededUniform(SEED, 0, batch * parameters);
  for (let member = 0; member < batch; member++) genomes[member * parameters] = member;
  const offered = seededUniform(SEED, 1, batches * batch * (1 + dims.length)).map((value) => (value + 1) / 2);
  const data = new Float32Array(genomes.length + offered.length);
  data.set(genomes);
  data.set(offered, genomes.length);
  return data;
}

/** Members of each batch. */
export interface Offer {
  readonly fitness: Float32Array<ArrayBuffer>;
  readonly measures: Float32Array<ArrayBuffer>;
}

export async function readCase(input: ArchiveCase): Promise<{ genomes: Float32Array<ArrayBuffer>; offers: Offer[] }> {
  const data = new Float32Array(Uint8Array.from(await readFile(input.dataFile)).buffer);
  return splitCase(input, data);
}

function splitCase(
  { batch, batches, dims, parameters }: Omit<ArchiveCase, "dataFile">,
  data: Float32Array<ArrayBuffer>,
) {
  const each = batch * (1 + dims.length);
  const offers = Array.from({ length: batches }, (_, index) => {
    const at = batch * parameters + index * each;
    return { fitness: data.slice(at, at + batch), measures: data.slice(at + batch, at + each) };
  });
  return { genomes: data.slice(0, batch * parameters), offers };
}

export function gridOf({ dims }: Pick<ArchiveCase, "dims">): ArchiveGrid {
  return { dims, ranges: dims.map(() => ({ low: 0, high: 1 })), annealing: null };
}

/** Fitness and member of each cell; -1 for empty cells. */
export function toOutput(
  { dims }: Pick<ArchiveCase, "dims">,
  elites: { cells: ArrayLike<number>; fitness: ArrayLike<number>; members: ArrayLike<number> },
): Float32Array {
  const cells = dims.reduce((product, size) => product * size, 1);
  const output = new Float32Array(2 * cells).fill(-1);
  for (let slot = 0; slot < elites.cells.length; slot++) {
    output[2 * elites.cells[slot]!] = elites.fitness[slot]!;
    output[2 * elites.cells[slot]! + 1] = elites.members[slot]!;
  }
  return output;
}

/** The same output from our own archive. */
export async function readOutput(input: ArchiveCase, archive: Archive): Promise<Float32Array> {
  const { cells, fitness, genomes } = await archive.read();
  return toOutput(input, { cells, fitness, members: fitness.map((_, slot) => genomes[slot * input.parameters]!) });
}

/** Throws where an output differs from inserting one member after the other. */
export async function checkArchive(input: ArchiveCase, output: Float32Array): Promise<void> {
  const { offers } = await readCase(input);
  const locate = createLocator(gridOf(input));
  const expected = new Float32Array(output.length).fill(-1);
  for (const { fitness, measures } of offers) {
    for (const [member, value] of fitness.entries()) {
      const cell = locate(measures, member * input.dims.length);
      if (value > expected[2 * cell]!) expected.set([value, member], 2 * cell);
    }
  }
  const wrong = expected.findIndex((value, index) => value !== output[index]);
  if (wrong >= 0) throw new Error(`cell ${wrong >> 1} has ${output[wrong]}, not ${expected[wrong]}`);
}
