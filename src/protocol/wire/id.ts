import { z } from "zod";

/** Kinds of id, with the prefix of every id of that kind. */
export const ID_PREFIXES = {
  key: "key",
  token: "tok",
  runner: "rnr",
  device: "dev",
  fingerprint: "fpr",
  model: "mdl",
  modelVersion: "ver",
  placement: "plc",
  job: "job",
  run: "run",
  series: "ser",
  kernel: "krn",
  request: "req",
  tuning: "tun",
  threshold: "thr",
  change: "chg",
  alert: "alt",
  webhook: "whk",
  delivery: "dlv",
  transfer: "trf",
  population: "pop",
  environment: "env",
  archive: "arc",
  auditEntry: "aud",
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_DIGITS = 10;
const RANDOM_DIGITS = 16;

/**
 * A new id such as `run_01k…`: 48 bits of time, then 80 random bits, in Crockford's base 32, so
 * that ids of one kind sort by creation. Layout: the ULID specification, in lower case.
 */
export function createId(kind: IdKind, nowMs: number = Date.now()): string {
  let time = "";
  for (let rest = nowMs, digit = 0; digit < TIME_DIGITS; digit++) {
    time = CROCKFORD.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  let random = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(RANDOM_DIGITS))) {
    random += CROCKFORD.charAt(byte % 32);
  }
  return `${ID_PREFIXES[kind]}_${time}${random}`;
}

/** An id that is derived from content (a fingerprint, a series): the same content, the same id. */
export async function createContentId(kind: IdKind, content: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(content)));
  let text = "";
  for (let i = 0; i < TIME_DIGITS + RANDOM_DIGITS; i++) text += CROCKFORD.charAt((digest[i] ?? 0) % 32);
  return `${ID_PREFIXES[kind]}_${text}`;
}

/** GLOB pattern of SQLite that matches every id of one kind and no other name. */
export function idGlob(kind: IdKind): string {
  return `${ID_PREFIXES[kind]}_${"?".repeat(TIME_DIGITS + RANDOM_DIGITS)}`;
}

/** Schema of an id of one kind. */
export function idSchema(kind: IdKind) {
  const words = kind.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return z
    .string()
    .regex(new RegExp(`^${ID_PREFIXES[kind]}_[0-9a-z]{26}$`), `must be an id like ${ID_PREFIXES[kind]}_…`)
    .meta({ description: `Id of a ${words}` });
}

/** A SHA-256 of bytes, which names them. */
export const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 hexadecimal digits");
