import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Client } from "../../client/client.ts";
import { uploadFile } from "../../client/upload-files.ts";
import { modelEndpoints, type UploadedModel } from "../../protocol/models/model-endpoints.ts";
import { ModelUploadQuery } from "../../protocol/models/model.ts";
import { FILE_MEDIA_TYPE } from "../../protocol/models/upload.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { invalidRequest, parseInput } from "../../protocol/wire/parse-input.ts";
import { type FieldError, ProblemError } from "../../protocol/wire/problem.ts";

/** What the form of an upload has; the fields of its problems are named as these are. */
export interface ModelToSend {
  readonly name?: string;
  /** The ONNX file. */
  readonly model?: File;
  /** Files with its weights, by the names that the ONNX file has for them. */
  readonly data?: readonly File[];
  /** JSON, as the query of the upload has it. */
  readonly shapes?: string;
  readonly values?: string;
}

/** How far a file is. */
export interface SendingStep {
  readonly doing: "Reading" | "Sending";
  readonly name: string;
  /** Null while one request sends the whole file: browsers report no progress of a request. */
  readonly doneBytes: number | null;
  readonly totalBytes: number;
}

interface Sending {
  readonly onProgress: (step: SendingStep) => void;
  readonly signal: AbortSignal;
}

/** Hashed without a pause: some ten milliseconds. */
const PIECE_BYTES = 2 ** 20;

/**
 * Uploads a model: by one request if it is one small file, else in parts, which go on where an earlier upload ended.
 * Throws ProblemError with the form's fields as pointers.
 */
export async function sendModel(
  client: Client,
  { model, data = [], ...rest }: ModelToSend,
  sending: Sending,
): Promise<UploadedModel> {
  const query = parseInput(ModelUploadQuery, rest);
  if (model === undefined) throw invalidRequest([{ pointer: "#/model", message: "must be a file" }]);
  const sizeBytes = data.reduce((sum, { size }) => sum + size, model.size);
  if (sizeBytes > LIMITS.largeModelBytes) {
    const message = `has ${sizeBytes} bytes in all its files, and may have ${LIMITS.largeModelBytes}`;
    throw invalidRequest([{ pointer: "#/model", message }]);
  }
  const { signal } = sending;
  if (data.length === 0 && model.size <= LIMITS.modelBytes) {
    sending.onProgress({ doing: "Sending", name: model.name, doneBytes: null, totalBytes: model.size });
    const rawBody = { mediaType: FILE_MEDIA_TYPE, content: model };
    return placeErrors(client.call(modelEndpoints.uploadModel, { query, rawBody, signal }), placeError);
  }
  const body = await sendFiles(client, model, data, sending);
  return placeErrors(client.call(modelEndpoints.uploadModelFiles, { query, body, signal }), placeError);
}

/** Sends the files of a model; returns their digests. */
async function sendFiles(client: Client, model: File, data: readonly File[], sending: Sending) {
  const send = (file: File, pointer: string) => {
    const place = ({ message }: FieldError) => ({ pointer, message: `${file.name} ${message}` });
    return placeErrors(sendFile(client, file, sending), place);
  };
  const digest = await send(model, "#/model");
  const digests: Record<string, string> = {};
  for (const file of data) digests[file.name] = await send(file, "#/data");
  return { model: digest, data: digests };
}

async function sendFile(client: Client, file: File, { onProgress, signal }: Sending): Promise<string> {
  const report = (doing: SendingStep["doing"]) => (doneBytes: number) =>
    onProgress({ doing, name: file.name, doneBytes, totalBytes: file.size });
  const digest = await readDigest(file, report("Reading"), signal);
  await uploadFile(client, { digest, content: file }, { onProgress: report("Sending"), signal });
  return digest;
}

/** The SHA-256 of a file of any size; a browser's own takes a file only as a whole. */
async function readDigest(content: Blob, onProgress: (doneBytes: number) => void, signal: AbortSignal) {
  const hash = sha256.create();
  for (let at = 0; at < content.size; at += PIECE_BYTES) {
    signal.throwIfAborted();
    const piece = content.slice(at, at + PIECE_BYTES);
    hash.update(new Uint8Array(await piece.arrayBuffer()));
    onProgress(at + piece.size);
  }
  return `sha256:${bytesToHex(hash.digest())}`;
}

/** Puts the errors of a request's body and query at fields of the form. */
async function placeErrors<Reply>(reply: Promise<Reply>, place: (error: FieldError) => FieldError): Promise<Reply> {
  try {
    return await reply;
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const { code, detail, errors = [] } = error.problem;
    // What is wrong with the key is not wrong with a field.
    const placed = errors.map((each) => (each.pointer.startsWith("header/") ? each : place(each)));
    throw new ProblemError(code, detail, { errors: placed });
  }
}

/** An error of the model's upload: of its query, of the list of its files, or of the network. */
function placeError({ pointer, message }: FieldError): FieldError {
  if (pointer.startsWith("query/")) return { pointer: pointer.replace("query/", "#/"), message };
  const data = /^#\/data\/(.+)$/.exec(pointer)?.[1];
  if (data === undefined) return { pointer: "#/model", message };
  return { pointer: "#/data", message: `${data.replaceAll("~1", "/").replaceAll("~0", "~")} ${message}` };
}
