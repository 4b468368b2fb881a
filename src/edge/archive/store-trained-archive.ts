import type { TrainingResult } from "../../protocol/training.ts";
import type { ProjectEnv } from "../config.ts";
import { addArchive } from "../store/archive-store.ts";
import { openProject } from "../store/database.ts";
import { findJobArtifact } from "../store/job-artifact-store.ts";

/**
 * Keeps the archive that a search for diversity left, where its file arrived: what a runner says of one does not count.
 * Doing it twice changes nothing.
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
