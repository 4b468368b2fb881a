import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { StoredCredential } from "../credential-file.ts";
import { fetchInTime } from "../fetch-in-time.ts";
import { hasDigest } from "./has-digest.ts";

/** A device that is coming back waits for its models: a download that hangs must not keep it for ever. */
const DOWNLOAD_LIMIT_MS = 60_000;

/** Fetches an artifact whole, unless the signal ends it. Throws ProblemError where that cannot be done. */
export type ArtifactSource = (digest: string, signal?: AbortSignal) => Promise<Uint8Array>;

/** Artifacts as the edge keeps them in R2. Bytes that have another digest are refused. */
export function createEdgeSource({
  edgeUrl,
  credential,
}: Pick<StoredCredential, "edgeUrl" | "credential">): ArtifactSource {
  return async (digest, stopped) => {
    const url = new URL(endpoints.downloadArtifact.path.replace("{digest}", digest), edgeUrl);
    const headers = { authorization: `Bearer ${credential}` };
    const limit = AbortSignal.timeout(DOWNLOAD_LIMIT_MS);
    const signal = stopped === undefined ? limit : AbortSignal.any([limit, stopped]);
    const response = await fetchInTime(url, { headers }, signal);
    if (!response.ok)
      throw new ProblemError("backend-failed", `The edge has no artifact ${digest} (${response.status}).`);
    const bytes = await readAtMost(response, LIMITS.artifactBytes);
    if (bytes === null) {
      throw new ProblemError(
        "payload-too-large",
        `The artifact ${digest} is larger than ${LIMITS.artifactBytes} bytes.`,
      );
    }
    if (!hasDigest(bytes, digest)) throw new ProblemError("backend-failed", `The artifact ${digest} arrived damaged.`);
    return bytes;
  };
}

/** A body's bytes; null where there are more, as it says of itself or as they come. */
export async function readAtMost(
  { headers, body }: Response,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (Number(headers.get("content-length")) > maxBytes) return null;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let sizeBytes = 0;
  for await (const chunk of body ?? []) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
