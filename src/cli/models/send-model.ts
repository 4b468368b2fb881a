import { createHash } from "node:crypto";
import { createReadStream, openAsBlob, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { z } from "zod";
import type { Sendable } from "../../client/call-options.ts";
import type { Client } from "../../client/client.ts";
import { uploadFile } from "../../client/upload-files.ts";
import { UnreadableModel } from "../../onnx/each-field.ts";
import { openBlob, outlineModel, type RandomFile } from "../../onnx/outline-model.ts";
import { modelEndpoints, type UploadedModel } from "../../protocol/models/model-endpoints.ts";
import type { ModelUploadQuery } from "../../protocol/models/model.ts";
import { FILE_MEDIA_TYPE, OUTLINE_LIMITS } from "../../protocol/models/upload.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { ProgressLine } from "../render/progress-line.ts";

/**
 * Uploads a model: by one request if it is one small file, else its files in parts. Files with weights lie beside the
 * model's. An upload that was interrupted goes on where it ended.
 */
export async function sendModel(
  path: string,
  client: Client,
  query: Sendable<z.output<typeof ModelUploadQuery>>,
  progress: ProgressLine,
): Promise<UploadedModel> {
  const content = await openAsBlob(path);
  const names = await listDataFiles(path, content);
  if (names.length === 0 && content.size <= LIMITS.modelBytes) {
    const rawBody = { mediaType: FILE_MEDIA_TYPE, content: new Uint8Array(await content.arrayBuffer()) };
    return client.call(modelEndpoints.uploadModel, { query, rawBody });
  }
  const model = await sendFile(path, client, progress);
  const data: Record<string, string> = {};
  for (const name of names) data[name] = await sendFile(join(dirname(path), name), client, progress);
  return client.call(modelEndpoints.uploadModelFiles, { query, body: { model, data } });
}

/** Names of the files beside a model's that hold its weights. Throws `invalid-model` for a large file that is none. */
async function listDataFiles(path: string, content: Blob): Promise<string[]> {
  const opened = new Map<string, RandomFile | undefined>();
  const get = (name: string) => {
    if (!opened.has(name)) opened.set(name, openBeside(path, name));
    return opened.get(name);
  };
  try {
    return [...(await outlineModel({ model: openBlob(content), data: { get } }, OUTLINE_LIMITS)).dataFiles];
  } catch (error) {
    if (!(error instanceof UnreadableModel)) throw error;
    // The edge reads a small file as a whole, and reports all that is wrong with it.
    if (opened.size === 0 && content.size <= LIMITS.modelBytes) return [];
    throw new ProblemError("invalid-model", `${path}: ${error.message}.`);
  }
}

/** A file in the same folder; undefined where it is not there, or its name leads elsewhere. */
function openBeside(path: string, name: string): RandomFile | undefined {
  const beside = join(dirname(path), name);
  if (name === "" || dirname(beside) !== dirname(join(path)) || name.includes("\\")) return undefined;
  const stats = statSync(beside, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return undefined;
  const read = async (offset: number, length: number) => openBlob(await openAsBlob(beside)).read(offset, length);
  return { sizeBytes: stats.size, read };
}

/** Sends a file in parts; returns its digest. */
async function sendFile(path: string, client: Client, progress: ProgressLine): Promise<string> {
  const content = await openAsBlob(path);
  const show = (what: string, doneBytes: number) => progress.show({ what, ...inMebibytes(doneBytes, content.size) });
  const digest = await readDigest(path, (doneBytes) => show(`reading ${path}`, doneBytes));
  const onProgress = (doneBytes: number) => show(`uploading ${path}`, doneBytes);
  await uploadFile(client, { digest, content }, { onProgress });
  return digest;
}

async function readDigest(path: string, onProgress: (doneBytes: number) => void): Promise<string> {
  const hash = createHash("sha256");
  let doneBytes = 0;
  for await (const piece of createReadStream(path, { highWaterMark: LIMITS.uploadPartBytes })) {
    hash.update(piece as Buffer);
    doneBytes += (piece as Buffer).byteLength;
    onProgress(doneBytes);
  }
  return `sha256:${hash.digest("hex")}`;
}

function inMebibytes(doneBytes: number, totalBytes: number) {
  return { done: Math.floor(doneBytes / 2 ** 20), total: Math.ceil(totalBytes / 2 ** 20), note: "MiB" };
}
