import { hexOf } from "./secret.ts";

/** Artifacts are addressed by what they hold, so the same bytes are stored once. */
function keyOf(digest: string): string {
  return `artifacts/${digest.replace(":", "/")}`;
}

/** Digest of the bytes as `sha256:…`. */
export async function digestOf(bytes: ArrayBuffer): Promise<string> {
  return `sha256:${hexOf(await crypto.subtle.digest("SHA-256", bytes))}`;
}

/** Stores bytes under their digest; R2 checks the digest as they arrive. */
export async function putArtifact(bucket: R2Bucket, digest: string, bytes: ArrayBuffer): Promise<void> {
  await bucket.put(keyOf(digest), bytes, { sha256: digest.slice("sha256:".length) });
}

export async function getArtifact(bucket: R2Bucket, digest: string): Promise<R2ObjectBody | null> {
  return bucket.get(keyOf(digest));
}
