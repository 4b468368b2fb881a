import { createHash } from "node:crypto";

/** Whether bytes are those that a digest (`sha256:` and 64 hex digits) names. */
export function hasDigest(bytes: Uint8Array, digest: string): boolean {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}` === digest;
}
