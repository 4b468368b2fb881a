import { readFileSync } from "node:fs";
import type { Archive, ArchiveGrid } from "../../../../src/gpu-runner/rollout/archive.ts";

export interface VectorBatch {
  readonly fitness: readonly number[];
  readonly measures: readonly number[];
  readonly statuses: readonly number[];
  readonly values: readonly number[];
  /** Afterwards, by cell. */
  readonly cells: readonly number[];
  /** Elite of each cell, by its index among all offered members. */
  readonly elites: readonly number[];
  readonly elitesFitness: readonly number[];
  readonly thresholds: readonly number[];
  readonly coverage: number;
  readonly qdScore: number;
}

interface PyribsVectors {
  readonly source: string;
  readonly cases: readonly (ArchiveGrid & { readonly batches: readonly VectorBatch[] })[];
  readonly indexed: readonly (Pick<ArchiveGrid, "dims" | "ranges"> & {
    readonly measures: readonly number[];
    readonly cells: readonly number[];
  })[];
  /** True for those that it refused. */
  readonly refused: Readonly<Record<string, boolean>>;
}

/** Results of GridArchive for batches; `source` holds its version. */
export const PYRIBS = JSON.parse(
  readFileSync(new URL("pyribs.vectors.json", import.meta.url), "utf8"),
) as PyribsVectors;

/** A batch as an archive of ours took it, in plain numbers. */
export interface PlayedBatch {
  readonly statuses: readonly number[];
  readonly values: readonly number[];
  readonly cells: readonly number[];
  readonly elites: readonly number[];
  readonly elitesFitness: readonly number[];
  readonly elitesMeasures: readonly number[];
  readonly thresholds: readonly number[];
}

/** A population as large as a case's largest batch, with one parameter: the number of the offered member. */
export interface OneParameter {
  readonly members: number;
  readonly parameters: number;
  read(first: number, count: number): Promise<Float32Array<ArrayBuffer>>;
  write(first: number, rows: Float32Array<ArrayBuffer>): Promise<void>;
}

/** Offers all batches of a case to an archive of this population. */
export async function playCase(
  population: Pick<OneParameter, "write">,
  archive: Archive,
  batches: readonly Pick<VectorBatch, "fitness" | "measures">[],
): Promise<PlayedBatch[]> {
  const played: PlayedBatch[] = [];
  let serial = 0;
  for (const { fitness, measures } of batches) {
    await population.write(
      0,
      Float32Array.from(fitness, () => serial++),
    );
    const { statuses, values } = await archive.add(Float32Array.from(fitness), Float32Array.from(measures));
    played.push({ statuses: [...statuses], values: [...values], ...(await readByCell(archive)) });
  }
  return played;
}

async function readByCell(archive: Archive) {
  const { cells, genomes, fitness, measures, thresholds } = await archive.read();
  const order = Array.from(cells, (_, slot) => slot).toSorted((a, b) => cells[a]! - cells[b]!);
  const axes = archive.grid.dims.length;
  return {
    cells: order.map((slot) => cells[slot]!),
    elites: order.map((slot) => genomes[slot]!),
    elitesFitness: order.map((slot) => fitness[slot]!),
    elitesMeasures: order.flatMap((slot) => [...measures.subarray(slot * axes, (slot + 1) * axes)]),
    thresholds: order.map((slot) => thresholds[slot]!),
  };
}
