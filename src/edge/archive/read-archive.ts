import { type ArchiveHead, decodeArchive, decodeArchiveHead, headBytesAtMost } from "../../protocol/archive-file.ts";
import type { StoredArchive } from "../../protocol/archive.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { getArtifactRange } from "../store/artifact-store.ts";

/** Everything but the genomes, which stand last in the file and are not read. Throws `not-found` where it is gone. */
export async function readArchiveHead(bucket: R2Bucket, archive: StoredArchive): Promise<ArchiveHead> {
  return decodeArchiveHead(await readBytes(bucket, archive, Math.min(archive.sizeBytes, headBytesAtMost(archive))));
}

/** All of an archive: it has to fit into memory. Throws `not-found` where it is gone. */
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
