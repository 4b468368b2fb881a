import { LIMITS } from "../../../protocol/wire/limits.ts";
import { VERSION } from "../../../protocol/wire/release.ts";

const PREFIX = "whsec_";
/** Standard Webhooks requires 24 to 64. */
const SECRET_BYTES = 24;

/** A new secret for signing: base64 after its prefix, as receivers' libraries expect. */
export function createSigningSecret(): string {
  return PREFIX + toBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
}

/**
 * The headers that sign a message: HMAC-SHA256 of `id.timestamp.body` under the decoded secret
 * (Standard Webhooks 1.0.0, symmetric signatures). The timestamp is in whole seconds.
 */
async function signMessage(
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

/** Outcome of a message; `gone`: the receiver wants no more. */
export interface SendOutcome {
  readonly kind: "arrived" | "failed" | "gone";
  readonly text: string;
}

/** Sends a signed message once. Redirects are not followed, and only the status of the answer is read. */
export async function sendMessage(
  { url, secret }: { readonly url: string; readonly secret: string },
  { id, body }: { readonly id: string; readonly body: string },
): Promise<SendOutcome> {
  const signature = await signMessage(secret, { id, body, sentAtMs: Date.now() });
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": `millrace/${VERSION}`, ...signature },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(LIMITS.webhookTimeoutMs),
    });
    await response.body?.cancel().catch(() => {});
    const kind = response.ok ? "arrived" : response.status === 410 ? "gone" : "failed";
    return { kind, text: `answered ${response.status}` };
  } catch (error) {
    const isLate = error instanceof Error && error.name === "TimeoutError";
    return { kind: "failed", text: isLate ? `no answer in ${LIMITS.webhookTimeoutMs} ms` : "could not be reached" };
  }
}

/** Names that are of no public domain (RFC 6761, 6762, 8375, and what routers use), and those without a dot. */
const LOCAL_NAMES = /^[^.]+\.?$|\.(localhost|local|localdomain|internal|intranet|lan|home|corp|home\.arpa)\.?$/;
/** IPv4 that is not public (RFC 6890): private, loopback, link-local, shared, for benchmarks, multicast, reserved. */
const LOCAL_IPV4 =
  /^(0|10|127|22[4-9]|2[345]\d)\.|^169\.254\.|^192\.168\.|^192\.0\.0\.|^198\.1[89]\.|^172\.(1[6-9]|2\d|3[01])\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./;
/** IPv6 that is not public: below ::/16, which has IPv4 too; translated and tunnelled IPv4; site, link and multicast. */
const LOCAL_IPV6 = /^\[(::|64:ff9b:|2001:(0?:)|2002:|f[cd][0-9a-f]{2}:|fe[89a-f][0-9a-f]:|ff[0-9a-f]{2}:)/;

/**
 * Whether a URL leads to the edge's own machine or network by its name or address. A public name that resolves to such
 * an address is not found out.
 */
export function isOwnNetwork(url: string): boolean {
  const { hostname } = new URL(url);
  if (hostname.startsWith("[")) return LOCAL_IPV6.test(hostname);
  return /^\d+(\.\d+){3}$/.test(hostname) ? LOCAL_IPV4.test(hostname) : LOCAL_NAMES.test(hostname);
}
