import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { getArtifact } from "../store/artifact-store.ts";
import { describeModel, type ModelDescription } from "./describe-model.ts";

/** What a file that a job left says of itself; null where it is gone, too large for a model, or none that can be used. */
export async function readStoredModel(bucket: R2Bucket, digest: string): Promise<ModelDescription | null> {
  const file = await getArtifact(bucket, digest);
  if (file === null || file.size > LIMITS.modelBytes) return null;
  try {
    return describeModel(new Uint8Array(await file.arrayBuffer()));
  } catch (error) {
    if (error instanceof ProblemError) return null;
    throw error;
  }
}
