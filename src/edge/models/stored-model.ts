import type { Model, ModelVersion } from "../../protocol/models/model.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Env, ProjectEnv } from "../config.ts";
import { getArtifact } from "../store/artifact-store.ts";
import { openDatabase, openProject } from "../store/database.ts";
import { findModel } from "../store/models/model-store.ts";
import { learnSummary } from "../store/models/version-store.ts";
import { describeModel, type ModelDescription } from "./describe-model.ts";

/** Description of a file that a job left; null where it is gone, too large for a model, or unusable. */
export async function readStoredModel(bucket: R2Bucket, digest: string): Promise<ModelDescription | null> {
  const file = await getArtifact(bucket, digest);
  if (file === null || file.size > LIMITS.modelBytes) return null;
  try {
    return await describeModel(new Uint8Array(await file.arrayBuffer()));
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === "invalid-model") return null;
    throw error;
  }
}

/** Digests that this isolate has attempted: an uncountable file is not read with every request. */
const begun = new Set<string>();

/**
 * Counts one file of a model that was stored before counting began, the latest versions first. It runs behind a reply
 * and shows at the next reading. Files that would be refused today stay as they are.
 */
export async function countOldFile(env: Env, { versions }: Model): Promise<void> {
  const variants = versions.toReversed().flatMap((version) => version.variants);
  const uncounted = variants.find(({ summary, digest }) => summary === null && !begun.has(digest));
  if (uncounted === undefined) return;
  const { digest } = uncounted;
  begun.add(digest);
  const file = await readStoredModel(env.ARTIFACTS, digest).catch((error: unknown) => {
    begun.delete(digest);
    throw error;
  });
  if (file !== null) await learnSummary(openDatabase(env.DB), digest, file.summary);
}

/** A model by name or id; throws `not-found` if there is none. */
export async function mustFindModel(env: ProjectEnv, nameOrId: string): Promise<Model> {
  const model = await findModel(openProject(env), nameOrId);
  if (model === null) throw new ProblemError("not-found", `There is no model ${nameOrId}.`);
  return model;
}

/** A version of a model; throws `not-found` if there is none. */
export async function mustFindVersion(env: ProjectEnv, nameOrId: string, number: number): Promise<ModelVersion> {
  const { versions } = await mustFindModel(env, nameOrId);
  const version = versions.find((each) => each.version === number);
  if (version === undefined) throw new ProblemError("not-found", `The model ${nameOrId} has no version ${number}.`);
  return version;
}
