import type { JobInput } from "../../protocol/job.ts";
import { hexOf } from "../store/secret.ts";

/** Digest of a job's spec: two requests with one idempotency key must have the same. */
export async function digestRequest(spec: JobInput): Promise<string> {
  return hexOf(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(spec))));
}
