import { encodingOf } from "../../../protocol/wire/content-encoding.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { createId } from "../../../protocol/wire/id.ts";
import type { Population } from "../../../protocol/policies/population.ts";
import { invalidRequest, unsupportedMediaType } from "../../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { discardBody, mediaTypeOf, untilItsEnd } from "../../http/read-body.ts";
import { putArtifact } from "../../store/artifact-store.ts";
import { openProject, type ProjectStorage } from "../../store/database.ts";
import { hasPopulationOfSize } from "../../store/models/population-store.ts";
import { mustHaveRoomForFile } from "../../store/quotas/quota-problem.ts";
import { hexOf } from "../../store/secret.ts";
import {
  type HeaderResult,
  isNpy,
  type PopulationLayout,
  readNpyHeader,
  readSafetensorsHeader,
  writeNpyHeader,
} from "./population-headers.ts";

const MEDIA_TYPE = "application/octet-stream";
/** Rows assembled at once from a file that has them in parts. */
const BLOCK_BYTES = 2 ** 22;

/** A population's file as it is stored. */
export type ReceivedPopulation = Pick<
  Population,
  "digest" | "sizeBytes" | "format" | "offsetBytes" | "members" | "parameters"
>;

/**
 * Receives a population's file and stores it under its digest. The header is checked before anything is stored. The
 * rest streams to the bucket under a temporary name, since it may exceed a Worker's memory. A file with a tensor for
 * each part of a layer is stored as npy with whole rows. Throws `invalid-request`, `payload-too-large` and
 * `quota-exceeded`.
 */
export async function receivePopulation(env: ProjectStorage, request: Request): Promise<ReceivedPopulation> {
  const { ARTIFACTS: bucket } = env;
  const mediaType = mediaTypeOf(request);
  if (mediaType !== MEDIA_TYPE) throw unsupportedMediaType(mediaType, [MEDIA_TYPE]);
  // It streams to the bucket as it is, by the size that its header says.
  encodingOf(request.headers.get("content-encoding"), []);
  const body = (request.body ?? new Blob([]).stream()).getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const key = `uploads/${createId("population")}`;
  try {
    const { head, layout } = await readHead(body);
    await mustHaveRoomOrKnow(env, layout);
    const digest = await store(bucket, key, layout.sizeBytes, () => pump(head, body, layout.sizeBytes));
    return await keep(env, key, digest, layout);
  } finally {
    body.releaseLock();
    await Promise.all([discardBody(request), bucket.delete(key)]);
  }
}

/** Bytes of a population as it is kept. */
function keptBytes({ sizeBytes, members, parameters, tensors }: PopulationLayout): number {
  return tensors.length === 1 ? sizeBytes : writeNpyHeader(members, parameters).length + 4 * members * parameters;
}

/** Refuses before anything is stored what has no room, unless it may be a file that is there already. */
async function mustHaveRoomOrKnow(env: ProjectStorage, layout: PopulationLayout): Promise<void> {
  const sizeBytes = keptBytes(layout);
  if (await hasPopulationOfSize(openProject(env), sizeBytes)) return;
  await mustHaveRoomForFile(env, "", sizeBytes);
}

async function readHead(
  body: ReadableStreamDefaultReader<Uint8Array>,
): Promise<{ head: Uint8Array<ArrayBuffer>; layout: PopulationLayout }> {
  let head = new Uint8Array(0);
  for (;;) {
    const read = readHeader(head);
    if (read.state === "read") return { head, layout: checkLayout(read.layout) };
    if (read.state === "wrong") throw invalidRequest([{ pointer: "#", message: read.message }]);
    const { done, value } = await untilItsEnd(body.read());
    if (done) throw invalidRequest([{ pointer: "#", message: "must be npy or safetensors" }]);
    head = new Uint8Array(await new Blob([head, value]).arrayBuffer());
  }
}

/** Reads the header of either format. */
export function readHeader(head: Uint8Array): HeaderResult {
  if (head.length < 8) return { state: "short", wantedBytes: 8 };
  return isNpy(head) ? readNpyHeader(head) : readSafetensorsHeader(head);
}

function checkLayout(layout: PopulationLayout): PopulationLayout {
  const { members, parameters, sizeBytes } = layout;
  if (sizeBytes > LIMITS.populationBytes) {
    throw new ProblemError("payload-too-large", `A population may have at most ${LIMITS.populationBytes} bytes.`, {
      errors: [{ pointer: "#", message: `must be at most ${LIMITS.populationBytes} bytes` }],
    });
  }
  const within = (count: number, most: number) => count >= 1 && count <= most;
  if (within(members, LIMITS.populationMembers) && within(parameters, LIMITS.policyParameters)) return layout;
  const message = `must have 1 to ${LIMITS.populationMembers} members of 1 to ${LIMITS.policyParameters} parameters`;
  throw invalidRequest([{ pointer: "#", message }]);
}

/** The head and the rest of the file, checked against the declared size. */
async function* pump(
  head: Uint8Array<ArrayBuffer>,
  body: ReadableStreamDefaultReader<Uint8Array>,
  sizeBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let sentBytes = head.byteLength;
  if (sentBytes <= sizeBytes) yield head;
  while (sentBytes <= sizeBytes) {
    const { done, value } = await untilItsEnd(body.read());
    if (done && sentBytes === sizeBytes) return;
    if (done) break;
    sentBytes += value.byteLength;
    if (sentBytes <= sizeBytes) yield value as Uint8Array<ArrayBuffer>;
  }
  throw invalidRequest([{ pointer: "#", message: `must be ${sizeBytes} bytes long, as its header says` }]);
}

/** Streams a known number of bytes into the bucket under a name, and gives their digest. */
async function store(
  bucket: R2Bucket,
  key: string,
  sizeBytes: number,
  chunks: () => AsyncIterable<Uint8Array<ArrayBuffer>>,
): Promise<string> {
  const { readable, writable } = new FixedLengthStream(sizeBytes);
  const digesting = new crypto.DigestStream("SHA-256");
  const [target, digester] = [writable.getWriter(), digesting.getWriter()];
  // The writes report failures; nothing awaits these promises.
  for (const promise of [target.closed, digester.closed, digesting.digest]) promise.catch(() => undefined);
  const write = async () => {
    try {
      for await (const chunk of chunks()) await Promise.all([target.write(chunk), digester.write(chunk)]);
      await Promise.all([target.close(), digester.close()]);
    } catch (error) {
      // The readers of the other ends must not wait for ever.
      await Promise.allSettled([target.abort(error), digester.abort(error)]);
      throw error;
    }
  };
  const [written, put] = await Promise.allSettled([write(), bucket.put(key, readable)]);
  if (written.status === "rejected") throw written.reason;
  if (put.status === "rejected") throw put.reason;
  return `sha256:${hexOf(await digesting.digest)}`;
}

/** Moves an uploaded file under its digest; rows in parts are stored as whole rows. */
async function keep(
  env: ProjectStorage,
  key: string,
  digest: string,
  { format, sizeBytes, members, parameters, tensors }: PopulationLayout,
): Promise<ReceivedPopulation> {
  const { ARTIFACTS: bucket } = env;
  if (tensors.length === 1) {
    await move(env, key, digest, sizeBytes);
    return { digest, sizeBytes, format, offsetBytes: tensors[0]!.offsetBytes, members, parameters };
  }
  const header = writeNpyHeader(members, parameters);
  const rowsBytes = header.length + 4 * members * parameters;
  const joinedKey = `${key}-rows`;
  try {
    const joined = await store(bucket, joinedKey, rowsBytes, () =>
      joinRows(bucket, key, header, { members, parameters, tensors }),
    );
    await move(env, joinedKey, joined, rowsBytes);
    return { digest: joined, sizeBytes: rowsBytes, format: "npy", offsetBytes: header.length, members, parameters };
  } finally {
    await bucket.delete(joinedKey);
  }
}

/** Only here the digest is known, by which a file that is there already takes no more room. */
async function move(env: ProjectStorage, key: string, digest: string, sizeBytes: number): Promise<void> {
  await mustHaveRoomForFile(env, digest, sizeBytes);
  const { ARTIFACTS: bucket } = env;
  const object = await bucket.get(key);
  if (object === null) throw new Error(`the upload ${key} is gone`);
  await putArtifact(bucket, digest, object.body);
}

async function* joinRows(
  bucket: R2Bucket,
  key: string,
  header: Uint8Array<ArrayBuffer>,
  { members, parameters, tensors }: Pick<PopulationLayout, "members" | "parameters" | "tensors">,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield header;
  const block = Math.max(1, Math.floor(BLOCK_BYTES / (4 * parameters)));
  for (let first = 0; first < members; first += block) {
    const count = Math.min(block, members - first);
    const rows = new Float32Array(count * parameters);
    let column = 0;
    for (const { width, offsetBytes } of tensors) {
      const range = { offset: offsetBytes + 4 * width * first, length: 4 * width * count };
      const object = await bucket.get(key, { range });
      if (object === null) throw new Error(`the upload ${key} is gone`);
      const part = new Float32Array(await object.arrayBuffer());
      for (let row = 0; row < count; row++) {
        rows.set(part.subarray(row * width, (row + 1) * width), row * parameters + column);
      }
      column += width;
    }
    yield new Uint8Array(rows.buffer);
  }
}
