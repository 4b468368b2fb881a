import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { StoredCredential } from "../credential-file.ts";
import { hasDigest } from "./has-digest.ts";

/** A device that is coming back waits for its models: a download that hangs must not keep it for ever. */
const DOWNLOAD_LIMIT_MS = 60_000;

/** Fetches an artifact whole. Throws ProblemError where that cannot be done. */
export type ArtifactSource = (digest: string) => Promise<Uint8Array>;

/** Artifacts as the edge keeps them in R2. Bytes that have another digest are refused. */
export function createEdgeSource({ edgeUrl, credential }: Pick<StoredCredential, "edgeUrl" | "credential">) {
  return async (digest: string): Promise<Uint8Array> => {
    const url = new URL(endpoints.downloadArtifact.path.replace("{digest}", digest), edgeUrl);
    const headers = { authorization: `Bearer ${credential}` };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(DOWNLOAD_LIMIT_MS) });
    if (!response.ok)
      throw new ProblemError("backend-failed", `The edge has no artifact ${digest} (${response.status}).`);
    if (Number(response.headers.get("content-length")) > LIMITS.modelBytes) {
      throw new ProblemError("payload-too-large", `The artifact ${digest} is larger than ${LIMITS.modelBytes} bytes.`);
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (!hasDigest(bytes, digest)) throw new ProblemError("backend-failed", `The artifact ${digest} arrived damaged.`);
    return bytes;
  };
}
