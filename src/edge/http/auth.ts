import type { Access } from "../../protocol/endpoint.ts";
import type { Scope } from "../../protocol/key.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { configOf, type Env } from "../config.ts";
import { openDatabase } from "../store/database.ts";
import { findKeyByHash } from "../store/key-store.ts";
import { findRunnerByCredentialHash } from "../store/runner-store.ts";
import { hashSecret } from "../store/secret.ts";

/** Who calls. */
export type Principal =
  | { readonly kind: "key"; readonly id: string; readonly scopes: readonly Scope[] }
  | { readonly kind: "runner"; readonly id: string };

interface CachedKey {
  readonly principal: Principal;
  readonly readAtMs: number;
}

type WaitUntil = (work: Promise<unknown>) => void;

const CACHED_KEYS = 1_000;
/** By secret, so that the inference path neither asks a database nor hashes. */
const keyCache = new Map<string, CachedKey>();

/** Checks `Authorization: Bearer …` against what a route wants; throws `unauthorized` or `forbidden`. */
export async function authorise(
  env: Env,
  authorization: string | undefined,
  access: Access,
  waitUntil: WaitUntil,
): Promise<Principal | null> {
  if (access === "public") return null;
  const secret = /^Bearer ([\x21-\x7e]{1,256})$/i.exec(authorization ?? "")?.[1];
  if (secret === undefined) throw refusal("unauthorized", "Send `Authorization: Bearer` and a key.");
  if (access === "runner") {
    const runnerId = await findRunnerByCredentialHash(openDatabase(env.DB), await hashSecret(secret));
    if (runnerId === null) throw refusal("unauthorized", "This is not the credential of a registered runner.");
    return { kind: "runner", id: runnerId };
  }
  const principal = await findKey(env, secret, access === "infer" ? waitUntil : null);
  if (principal?.kind !== "key") throw refusal("unauthorized", "The key is unknown or was revoked.");
  if (!principal.scopes.includes("admin") && !principal.scopes.includes(access)) {
    throw refusal("forbidden", `This needs a key with the scope \`${access}\`.`);
  }
  return principal;
}

/** Forgets a key at once in this isolate; others do so within `keyExpiryMs`. */
export function forgetCachedKeys(): void {
  keyCache.clear();
}

/** With `refresh`, a key that has aged serves once more while it is looked up behind the request. */
async function findKey(env: Env, secret: string, refresh: WaitUntil | null): Promise<Principal | null> {
  const { keyRefreshMs, keyExpiryMs } = configOf(env);
  const cached = keyCache.get(secret);
  const ageMs = cached === undefined ? Number.POSITIVE_INFINITY : Date.now() - cached.readAtMs;
  if (cached !== undefined && ageMs < keyRefreshMs) return cached.principal;
  if (cached === undefined || ageMs > keyExpiryMs || refresh === null) return readKey(env, secret);
  refresh(readKey(env, secret).catch(() => undefined));
  return cached.principal;
}

async function readKey(env: Env, secret: string): Promise<Principal | null> {
  const { bootstrapSecret } = configOf(env);
  const principal: Principal | null =
    bootstrapSecret !== null && (await equalSecrets(bootstrapSecret, secret))
      ? { kind: "key", id: "bootstrap", scopes: ["admin"] }
      : await findStoredKey(env, secret);
  if (keyCache.size >= CACHED_KEYS) keyCache.clear();
  if (principal === null) keyCache.delete(secret);
  else keyCache.set(secret, { principal, readAtMs: Date.now() });
  return principal;
}

async function findStoredKey(env: Env, secret: string): Promise<Principal | null> {
  const key = await findKeyByHash(openDatabase(env.DB), await hashSecret(secret));
  return key === null ? null : { kind: "key", ...key };
}

/** Compares digests in constant time, so that timing tells nothing of the secret. */
async function equalSecrets(a: string, b: string): Promise<boolean> {
  const encoder = new TextEncoder();
  const [digestA, digestB] = await Promise.all(
    [a, b].map((text) => crypto.subtle.digest("SHA-256", encoder.encode(text))),
  );
  return digestA !== undefined && digestB !== undefined && crypto.subtle.timingSafeEqual(digestA, digestB);
}

function refusal(code: "unauthorized" | "forbidden", detail: string): ProblemError {
  return new ProblemError(code, detail, { errors: [{ pointer: "header/authorization", message: detail }] });
}
