import { UnreadableModel } from "../../onnx/each-field.ts";
import { type ModelFiles, outlineModel, type RandomFile } from "../../onnx/outline-model.ts";
import { MODEL_FILE, type ModelFile, type ModelFilesInput, OUTLINE_LIMITS } from "../../protocol/models/upload.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import { type FieldError, ProblemError, toPointerPart } from "../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { digestOf, getArtifactRange } from "../store/artifact-store.ts";
import { readOwnFiles } from "../store/models/upload-store.ts";

/** Files of a model with their sizes, its own first. */
export interface FoundFiles {
  /** Of the one file, or of the list of all. */
  readonly digest: string;
  readonly sizeBytes: number;
  readonly files: ModelFile[];
}

/** Files by their digests. Throws `invalid-request` where the project has not uploaded one, or they are too large. */
export async function findModelFiles(env: ProjectEnv, { model, data }: ModelFilesInput): Promise<FoundFiles> {
  const named = [[MODEL_FILE, model], ...Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1))] as const;
  const sizes = await readOwnFiles(env, [...new Set(named.map(([, digest]) => digest))], Date.now());
  const errors: FieldError[] = [];
  const files = named.map(([name, digest], index) => {
    const sizeBytes = sizes.get(digest);
    if (sizeBytes === undefined) {
      const pointer = index === 0 ? "#/model" : `#/data/${toPointerPart(name)}`;
      errors.push({ pointer, message: "has not been uploaded: send it by /v1/uploads first" });
    }
    return { name, digest, sizeBytes: sizeBytes ?? 0 };
  });
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  if (sizeBytes > LIMITS.largeModelBytes) {
    errors.push({ pointer: "#", message: `has files of ${sizeBytes} bytes, and may have ${LIMITS.largeModelBytes}` });
  }
  if (errors.length > 0) throw invalidRequest(errors.slice(0, LIMITS.modelProblems));
  const list = JSON.stringify(files.map(({ name, digest }) => [name, digest]));
  const digest = files.length === 1 ? model : await digestOf(new Uint8Array(new TextEncoder().encode(list)).buffer);
  return { digest, sizeBytes, files };
}

/**
 * What the files are, by ranged reads that skip the weights. Throws `invalid-model` where that cannot be read, or a
 * file is of no use.
 */
export async function outlineFiles(bucket: R2Bucket, files: readonly ModelFile[]): Promise<Uint8Array> {
  const [own, ...others] = files.map((file) => [file.name, openArtifact(bucket, file)] as const);
  const opened: ModelFiles = { model: own![1], data: new Map(others) };
  const outline = await outlineModel(opened, OUTLINE_LIMITS).catch((error: unknown) => {
    throw error instanceof UnreadableModel ? unusable([{ pointer: "#", message: error.message }]) : error;
  });
  const unused = others.filter(([name]) => !outline.dataFiles.has(name));
  if (unused.length === 0) return outline.bytes;
  throw unusable(
    unused.map(([name]) => ({
      pointer: `#/data/${toPointerPart(name)}`,
      message: "is a file without weights of it",
    })),
  );
}

function openArtifact(bucket: R2Bucket, { digest, sizeBytes }: ModelFile): RandomFile {
  const read = async (offset: number, length: number) => {
    const part = await getArtifactRange(bucket, digest, { offset, length });
    if (part === null) throw new Error(`the artifact ${digest} is gone`);
    return new Uint8Array(await part.arrayBuffer());
  };
  return { sizeBytes, read };
}

function unusable(errors: FieldError[]): ProblemError {
  return new ProblemError("invalid-model", `The model cannot be used: ${errors[0]?.message}.`, {
    errors: errors.slice(0, LIMITS.modelProblems),
  });
}
