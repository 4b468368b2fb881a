import { hexOf } from "./secret.ts";

/** Artifacts are addressed by what they hold, so the same bytes are stored once. */
function keyOf(digest: string): string {
  return `artifacts/${digest.replace(":", "/")}`;
}

/** Digest of the bytes as `sha256:…`. */
export async function digestOf(bytes: ArrayBuffer): Promise<string> {
  return `sha256:${hexOf(await crypto.subtle.digest("SHA-256", bytes))}`;
}

/**
 * Stores bytes under their digest; R2 checks the digest as they arrive, and fails where it is another. A stream must
 * be one whose length is known, such as a request's body with a content length.
 */
export async function putArtifact(
  bucket: R2Bucket,
  digest: string,
  bytes: ArrayBuffer | ReadableStream,
): Promise<void> {
  await bucket.put(keyOf(digest), bytes, { sha256: digest.slice("sha256:".length) });
}

export async function getArtifact(bucket: R2Bucket, digest: string): Promise<R2ObjectBody | null> {
  return bucket.get(keyOf(digest));
}

export async function hasArtifact(bucket: R2Bucket, digest: string): Promise<boolean> {
  return (await bucket.head(keyOf(digest))) !== null;
}

/** So many bytes of an artifact from an offset on. */
export async function getArtifactRange(
  bucket: R2Bucket,
  digest: string,
  range: { readonly offset: number; readonly length: number },
): Promise<R2ObjectBody | null> {
  // An empty range is none to R2.
  return bucket.get(keyOf(digest), range.length === 0 ? {} : { range });
}

export async function deleteArtifacts(bucket: R2Bucket, digests: readonly string[]): Promise<void> {
  if (digests.length > 0) await bucket.delete(digests.map(keyOf));
}
