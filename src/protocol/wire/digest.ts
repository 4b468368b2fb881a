import { z } from "zod";

/** A SHA-256 of bytes, which names them. */
export const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 hexadecimal digits");
