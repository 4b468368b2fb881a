import type { TrainingResult } from "../../protocol/training.ts";
import { addArchive } from "../store/archive-store.ts";
import { openDatabase } from "../store/database.ts";
import { findJobArtifact } from "../store/job-artifact-store.ts";

/**
 * Keeps the archive that a search for diversity left, where its file arrived: what a runner says of one does not count.
 * Doing it twice changes nothing.
 */
export async function storeTrainedArchive(
  binding: D1Database,
  jobId: string,
  { qualityDiversity }: Pick<TrainingResult, "qualityDiversity">,
): Promise<void> {
  if (qualityDiversity === null) return;
  const file = await findJobArtifact(openDatabase(binding), jobId, "archive");
  if (file === null) return;
  const { digest, sizeBytes } = file;
  await addArchive(binding, { jobId, digest, sizeBytes, summary: qualityDiversity.archive });
}
