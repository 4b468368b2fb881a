import { toBase64Url } from "../../protocol/wire/base64url.ts";

const SECRET_BYTES = 24;

/** What base64url makes of so many bytes, behind a prefix. */
const SECRET_TEXT = /^\w{2}_[\w-]{32}$/;

/** What a secret is for; its prefix lets people and leak scanners tell one from another. */
const SECRET_PREFIXES = { key: "mk", token: "mt", credential: "mc" } as const;

/** A new random secret, such as `mk_…`: 192 bits, base64url. */
export function createSecret(kind: keyof typeof SECRET_PREFIXES): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `${SECRET_PREFIXES[kind]}_${toBase64Url(bytes)}`;
}

/** Whether a text could be a secret that was made here: what is not need not be looked up. */
export function isSecretOf(kind: keyof typeof SECRET_PREFIXES, text: string): boolean {
  return text.startsWith(`${SECRET_PREFIXES[kind]}_`) && SECRET_TEXT.test(text);
}

/**
 * SHA-256 of a secret as hex: all that is stored. A plain hash is enough, since the secrets are
 * random and long; there is nothing to guess.
 */
export async function hashSecret(secret: string): Promise<string> {
  return hexOf(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret)));
}

export function hexOf(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
