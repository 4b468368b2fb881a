const PREFIX = "whsec_";
/** Standard Webhooks wants 24 to 64. */
const SECRET_BYTES = 24;

/** A new secret for signing: base64 behind its prefix, as receivers' libraries want it. */
export function createSigningSecret(): string {
  return PREFIX + toBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
}

/**
 * The headers that sign a message: HMAC-SHA256 of `id.timestamp.body` under the decoded secret
 * (Standard Webhooks 1.0.0, symmetric signatures). The timestamp is in whole seconds.
 */
export async function signMessage(
  secret: string,
  { id, body, sentAtMs }: { readonly id: string; readonly body: string; readonly sentAtMs: number },
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(sentAtMs / 1e3));
  const bytes = Uint8Array.from(atob(secret.slice(PREFIX.length)), (character) => character.charCodeAt(0));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signed = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${id}.${timestamp}.${body}`));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${toBase64(new Uint8Array(signed))}`,
  };
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
