import { EDGE_VARIANTS } from "../../protocol/models/edge-place.ts";
import { type HeldOut, readHeldOut } from "../../protocol/models/held-out-file.ts";
import type { ModelVersion } from "../../protocol/models/model.ts";
import type { ModelFilesInput } from "../../protocol/models/upload.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { jobQueue, type ProjectEnv } from "../config.ts";
import { calibrateEverywhere } from "../fleet/placement-rules.ts";
import { deleteUnnamed, digestOf, getArtifact, putArtifact } from "../store/artifact-store.ts";
import { openProject } from "../store/database.ts";
import { addModelVersion } from "../store/models/model-store.ts";
import { forgetUploads } from "../store/models/upload-store.ts";
import { addVariant, setVersionData } from "../store/models/version-store.ts";
import { mustHaveRoomForFile, quotaExceeded } from "../store/quotas/quota-problem.ts";
import { checkHeldOut } from "./check-held-out.ts";
import { type DeclaredSizes, declareSizes } from "./declare-sizes.ts";
import { describeModel, describeOutline } from "./describe-model.ts";
import { findModelFiles, outlineFiles } from "./open-model-files.ts";
import { compareSignatures } from "./read-signature.ts";
import { mustFindModel, mustFindVersion } from "./stored-model.ts";

type File = Uint8Array<ArrayBuffer>;

/**
 * Stores an ONNX file as a model's next version, with the sizes at which it is measured, and requests its calibration.
 * Throws `invalid-model` for an unusable file, and `quota-exceeded`.
 */
export async function storeModel(env: ProjectEnv, name: string, bytes: File, declared: DeclaredSizes = {}) {
  const described = await describeFile(bytes);
  const file = { ...described, inputs: declareSizes(described.inputs, declared) };
  await mustHaveRoomForFile(env, file.digest, file.sizeBytes);
  await putArtifact(env.ARTIFACTS, file.digest, bytes.buffer);
  return addVersion(env, { name, ...file });
}

/**
 * Stores a model of uploaded files as the next version, like `storeModel`. Throws `invalid-request` for files that were
 * not uploaded, and `invalid-model`.
 */
export async function storeModelFiles(
  env: ProjectEnv,
  name: string,
  input: ModelFilesInput,
  declared: DeclaredSizes = {},
) {
  const { digest, sizeBytes, files } = await findModelFiles(env, input);
  if (files.length === 1 && sizeBytes <= LIMITS.modelBytes) {
    const file = await getArtifact(env.ARTIFACTS, digest);
    if (file === null) throw new Error(`the artifact ${digest} is gone`);
    const stored = await storeModel(env, name, new Uint8Array(await file.arrayBuffer()), declared);
    await forgetUploads(env, [digest]);
    return stored;
  }
  const described = await describeOutline(await outlineFiles(env.ARTIFACTS, files));
  const file = { ...described, digest, sizeBytes, files, inputs: declareSizes(described.inputs, declared) };
  return addVersion(env, { name, ...file });
}

async function addVersion(env: ProjectEnv, input: Parameters<typeof addModelVersion>[1]) {
  const db = openProject(env);
  const added = await addModelVersion(db, input);
  if (added === null) {
    await deleteUnnamed(env.DB, env.ARTIFACTS, [input.digest]);
    throw await quotaExceeded(env, { models: 1, versions: 1 });
  }
  const { model, version, created, learnt } = added;
  const digests = input.files?.map((file) => file.digest) ?? [];
  if (digests.length > 0) await forgetUploads(env, digests);
  if (created || learnt) await calibrateEverywhere(env, version.id, model.placement);
  return { model, version, created };
}

/** A file with the same signature as a version. */
interface VariantFile {
  readonly name: string;
  /** Fidelity as the caller measured it, if it did. */
  readonly fidelity?: number | undefined;
  readonly bytes: File;
}

/** Stores a further file of a version and requests its calibration. */
export async function storeVariant(
  env: ProjectEnv,
  model: string,
  number: number,
  { name, fidelity, bytes }: VariantFile,
): Promise<{ version: ModelVersion; created: boolean }> {
  const file = await describeFile(bytes);
  const version = await mustFindVersion(env, model, number);
  const errors = compareSignatures(version, file);
  if (errors.length > 0) throw new ProblemError("invalid-model", "It is no variant of this version.", { errors });
  await mustHaveRoomForFile(env, file.digest, file.sizeBytes);
  await putArtifact(env.ARTIFACTS, file.digest, bytes.buffer);
  const { digest, sizeBytes, summary } = file;
  const stands = { digest, sizeBytes, fidelity: fidelity ?? null, summary };
  // Names reserved for the variants that the edge derives from the version's own file.
  const isReserved = EDGE_VARIANTS.some((reserved) => reserved === name);
  const variant = { modelVersionId: version.id, name, ...stands };
  const outcome = isReserved ? "taken" : await addVariant(openProject(env), variant);
  if (outcome === "taken") throw new ProblemError("conflict", `The variant ${name} is another file.`);
  if (outcome === "full") {
    throw new ProblemError("conflict", `A version has at most ${LIMITS.variantsPerVersion} variants.`);
  }
  const created = outcome === "created";
  const { placement } = await mustFindModel(env, model);
  if (created) await calibrateEverywhere(env, version.id, placement);
  return { version: await mustFindVersion(env, model, number), created };
}

async function describeFile(bytes: File) {
  return { digest: await digestOf(bytes.buffer), sizeBytes: bytes.byteLength, ...(await describeModel(bytes)) };
}

/** Stores the held-out data of a version, on which its variants are measured. */
export async function storeVersionData(
  env: ProjectEnv,
  model: string,
  number: number,
  bytes: File,
): Promise<ModelVersion> {
  const heldOut = parseHeldOut(bytes);
  const version = await mustFindVersion(env, model, number);
  const errors = checkHeldOut(version, heldOut);
  if (errors.length > 0) throw invalidRequest(errors);
  const digest = await digestOf(bytes.buffer);
  await refuseWhileUsed(env, version, digest);
  await mustHaveRoomForFile(env, digest, bytes.byteLength);
  await putArtifact(env.ARTIFACTS, digest, bytes.buffer);
  const { rows, metric } = heldOut;
  await setVersionData(env, version.id, { digest, sizeBytes: bytes.byteLength, rows, metric });
  return mustFindVersion(env, model, number);
}

/** New data would remove the data that a waiting compression has yet to read. */
async function refuseWhileUsed(env: ProjectEnv, { data }: ModelVersion, digest: string): Promise<void> {
  if (data === null || data.digest === digest) return;
  const jobId = await jobQueue(env).findMeasuredOn(env.project, data.digest);
  if (jobId === null) return;
  throw new ProblemError("conflict", `${jobId} is measured on the data that are there: wait for it, or cancel it.`);
}

function parseHeldOut(bytes: Uint8Array): HeldOut {
  try {
    return readHeldOut(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalidRequest([{ pointer: "#", message: `is no held-out part: ${error.message}` }]);
  }
}
