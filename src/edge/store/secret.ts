import { toBase64Url } from "../../protocol/wire/base64url.ts";

const SECRET_BYTES = 24;

/** Base64url of this many bytes, after a prefix. */
const SECRET_TEXT = /^\w{2}_[\w-]{32}$/;

/** Kinds of secrets; the prefix lets people and leak scanners distinguish them. */
const SECRET_PREFIXES = { key: "mk", token: "mt", credential: "mc" } as const;

/** A new random secret, such as `mk_…`: 192 bits, base64url. */
export function createSecret(kind: keyof typeof SECRET_PREFIXES): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `${SECRET_PREFIXES[kind]}_${toBase64Url(bytes)}`;
}

/** True if a text has the form of such a secret: others need no lookup. */
export function isSecretOf(kind: keyof typeof SECRET_PREFIXES, text: string): boolean {
  return text.startsWith(`${SECRET_PREFIXES[kind]}_`) && SECRET_TEXT.test(text);
}

/** SHA-256 of a secret as hex: only this is stored. A plain hash is enough, since the secrets are random and long. */
export async function hashSecret(secret: string): Promise<string> {
  return hexOf(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret)));
}

export function hexOf(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
