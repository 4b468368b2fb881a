import { boundsOfPart, FILE_MEDIA_TYPE, uploadEndpoints } from "../protocol/models/upload.ts";
import { ProblemError } from "../protocol/wire/problem.ts";
import type { Client } from "./client.ts";

/** A file to be sent in parts. */
export interface LargeFile {
  /** `sha256:` and 64 hexadecimal digits, of the whole file. */
  readonly digest: string;
  readonly content: Blob;
}

export interface UploadOptions {
  /** Called with the bytes that the edge has, at the beginning and after every part. */
  readonly onProgress?: (doneBytes: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Times that missing parts are sent: some may end while others come. */
const ROUNDS = 3;

/**
 * Sends what the edge lacks of a file, part by part, until the edge has checked and stored it. After a failure the same
 * call goes on where this one ended. Throws ProblemError where the edge refuses it, and `conflict`
 * where parts are missing after three rounds.
 */
export async function uploadFile(
  client: Client,
  { digest, content }: LargeFile,
  { onProgress, signal }: UploadOptions = {},
): Promise<void> {
  const stopped = signal === undefined ? {} : { signal };
  const body = { digest, sizeBytes: content.size };
  for (let round = 0; ; round++) {
    const upload = await client.call(uploadEndpoints.beginUpload, { body, ...stopped });
    const bounds = upload.missing.map((number) => ({ number, ...boundsOfPart(upload, number) }));
    let doneBytes = content.size - bounds.reduce((sum, { start, end }) => sum + end - start, 0);
    onProgress?.(doneBytes);
    if (upload.state === "stored") return;
    if (round === ROUNDS) {
      throw new ProblemError(
        "conflict",
        `Parts of ${digest} were sent ${ROUNDS} times and are missing: send it again.`,
      );
    }
    for (const { number, start, end } of bounds) {
      const part = new Uint8Array(await content.slice(start, end).arrayBuffer());
      const query = { digest: await digestOf(part) };
      const rawBody = { mediaType: FILE_MEDIA_TYPE, content: part };
      await client.call(uploadEndpoints.putUploadPart, { params: { digest, number }, query, rawBody, ...stopped });
      doneBytes += end - start;
      onProgress?.(doneBytes);
    }
  }
}

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256:${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
