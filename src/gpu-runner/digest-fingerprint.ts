import { createHash } from "node:crypto";
import { fingerprintText } from "../protocol/fingerprint-id.ts";
import type { Fingerprint } from "../protocol/hardware.ts";

/** SHA-256 of a fingerprint in hex, what files of this runner know a kind of device by. */
export function digestFingerprint(fingerprint: Fingerprint): string {
  return createHash("sha256").update(fingerprintText(fingerprint)).digest("hex");
}
