import { fromBase64Url, toBase64Url } from "../../protocol/wire/base64url.ts";
import type { TicketKey } from "../../protocol/link.ts";
import { joinTicket, type TicketGrant, writeGrant } from "../../protocol/inference/ticket.ts";

/** A key that a runner's tickets are signed with: it lives with the socket and is stored nowhere else. */
export interface HeldKey {
  readonly keyId: string;
  /** 256 bits, base64url. */
  readonly secret: string;
  readonly madeAtMs: number;
}

const KEY_LIFE_MS = 3_600_000;
/** Time that a new key may need to reach the runner; until then the previous one signs. */
const HANDOVER_MS = 5_000;

/** A runner's keys with a new one in front, where the newest is due: made an hour ago, or never. Else null. */
export function renewKeys(keys: readonly HeldKey[], nowMs: number): [HeldKey, ...HeldKey[]] | null {
  const [newest] = keys;
  if (newest !== undefined && nowMs - newest.madeAtMs < KEY_LIFE_MS) return null;
  const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));
  const keyId = Array.from(random(8), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const made = { keyId, secret: toBase64Url(random(32)), madeAtMs: nowMs };
  return newest === undefined ? [made] : [made, newest];
}

/** The newest key that the runner must have by now, or the only one; undefined without keys. */
export function signingKey(keys: readonly HeldKey[], nowMs: number): HeldKey | undefined {
  return keys.find(({ madeAtMs }) => nowMs - madeAtMs >= HANDOVER_MS) ?? keys.at(-1);
}

/** A key in the form that the runner receives. */
export function toTicketKey({ keyId, secret }: HeldKey, nowMs: number): TicketKey {
  return { type: "ticketKey", keyId, secret, atMs: nowMs };
}

export async function signTicket({ keyId, secret }: HeldKey, grant: TicketGrant): Promise<string> {
  const bytes = fromBase64Url(secret) ?? new Uint8Array();
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signed = writeGrant(keyId, grant);
  return joinTicket(signed, new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(signed))));
}
