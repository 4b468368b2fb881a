import type { TrainingResult } from "../../../protocol/jobs/training.ts";
import {
  type ArchiveHead,
  decodeArchive,
  decodeArchiveHead,
  type FiledElites,
  headBytesAtMost,
} from "../../../protocol/policies/archive-file.ts";
import type { PruneInput, StoredArchive } from "../../../protocol/policies/archive.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../../config.ts";
import { findJobArtifact, getArtifactRange } from "../../store/artifact-store.ts";
import { openProject } from "../../store/database.ts";
import { addArchive } from "../../store/models/archive-store.ts";

/**
 * The elites that remain, in order: without the worst `dropShare` of them (rounded down; among equals the latest go
 * first) and those below `minFitness`.
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

/**
 * Everything but the genomes, which are at the end of the file and are not read. Throws `not-found` if the file is
 * gone.
 */
export async function readArchiveHead(bucket: R2Bucket, archive: StoredArchive): Promise<ArchiveHead> {
  return decodeArchiveHead(await readBytes(bucket, archive, Math.min(archive.sizeBytes, headBytesAtMost(archive))));
}

/** A whole archive, which must fit into memory. Throws `not-found` if it is gone. */
export async function readArchive(bucket: R2Bucket, archive: StoredArchive): Promise<ReturnType<typeof decodeArchive>> {
  return decodeArchive(await readBytes(bucket, archive, archive.sizeBytes));
}

async function readBytes(
  bucket: R2Bucket,
  { id, digest }: StoredArchive,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const object = await getArtifactRange(bucket, digest, { offset: 0, length });
  if (object === null) throw new ProblemError("not-found", `The file of the archive ${id} is not kept any more.`);
  return new Uint8Array(await object.arrayBuffer());
}

/**
 * Stores the archive of a quality-diversity search, if its file arrived: the runner's report alone does not count.
 * Idempotent.
 */
export async function storeTrainedArchive(
  env: ProjectEnv,
  jobId: string,
  { qualityDiversity }: Pick<TrainingResult, "qualityDiversity">,
): Promise<void> {
  if (qualityDiversity === null) return;
  const db = openProject(env);
  const file = await findJobArtifact(db, jobId, "archive");
  if (file === null) return;
  const { digest, sizeBytes } = file;
  await addArchive(db, { jobId, digest, sizeBytes, summary: qualityDiversity.archive });
}
