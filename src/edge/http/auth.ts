import type { Endpoint } from "../../protocol/endpoint.ts";
import type { Scope } from "../../protocol/service/key.ts";
import { MAIN_PROJECT } from "../../protocol/service/project.ts";
import { challenge, ProblemError } from "../../protocol/wire/problem.ts";
import { configOf, type Env } from "../config.ts";
import { ageMs } from "../clock.ts";
import { openDatabase } from "../store/database.ts";
import { findKeyByHash } from "../store/key-store.ts";
import { findRunnerByCredentialHash } from "../store/fleet/registration-store.ts";
import { nameHolder } from "../thread-shares.ts";
import { hashSecret, isSecretOf } from "../store/secret.ts";
import { checkRate } from "./key-rate.ts";
import { PrincipalCache } from "./principal-cache.ts";
import { addressOf, checkAddress, noteWrongSecret } from "./rate-limiter.ts";

/** Authenticated caller. */
export type Principal =
  | {
      readonly kind: "key";
      readonly id: string;
      readonly project: string;
      readonly scopes: readonly Scope[];
      /** Null: the limit that all keys have. */
      readonly requestsPerSecond: number | null;
    }
  | { readonly kind: "runner"; readonly id: string; readonly project: string };

/** The caller's own data in a request. */
export interface Caller {
  readonly authorization: string | undefined;
  readonly address: string;
}

export function callerOf(request: Request): Caller {
  return { authorization: request.headers.get("authorization") ?? undefined, address: addressOf(request) };
}

/** Whose share of the thread a request takes: the project of a known secret, else the address that it comes from. */
export function holderOf({ authorization, address }: Caller): string {
  const principal = knownPrincipal(authorization);
  if (principal === undefined) return `the address ${address}`;
  return nameHolder(principal.project, principal.kind === "runner");
}

/** The principal of a secret that was looked up before. */
export function knownPrincipal(authorization: string | undefined): Principal | undefined {
  const secret = readSecret(authorization);
  return secret === undefined ? undefined : cache.get(secret)?.principal;
}

function readSecret(authorization: string | undefined): string | undefined {
  return /^Bearer ([\x21-\x7e]{1,256})$/i.exec(authorization ?? "")?.[1];
}

interface CachedPrincipal {
  readonly principal: Principal;
  readonly readAtMs: number;
  /** Time at which it was last looked up behind a request, or read. */
  askedAtMs: number;
}

type WaitUntil = (work: Promise<unknown>) => void;

const CACHED_PRINCIPALS = 1_000;
/** Principals by secret, so that the inference path neither queries a database nor hashes. */
const cache = new PrincipalCache<CachedPrincipal>(CACHED_PRINCIPALS);

/**
 * Checks `Authorization: Bearer …` against a route's access; throws `unauthorized` or `forbidden`.
 * A runner's credential is looked up each time, unless it is known to have sent too many requests; on a frequent route
 * it is cached like a key for inference.
 */
export async function authorise(
  env: Env,
  { authorization, address }: Caller,
  {
    access,
    isOperators = false,
    isFrequent = access === "infer",
  }: Pick<Endpoint, "access" | "isOperators" | "isFrequent">,
  waitUntil: WaitUntil,
): Promise<Principal | null> {
  if (access === "public") return null;
  const secret = readSecret(authorization);
  const refusal = (code: "unauthorized" | "forbidden", detail: string) => {
    const headers = challenge(authorization, code === "forbidden" ? "insufficient_scope" : "invalid_token");
    return new ProblemError(code, detail, { errors: [{ pointer: "header/authorization", message: detail }] }, headers);
  };
  if (secret === undefined) throw refusal("unauthorized", "Send `Authorization: Bearer` and a key.");
  const refresh = isFrequent ? waitUntil : null;
  if (access === "runner") {
    const runner = await (isFrequent
      ? findCached(env, secret, readRunner, address, refresh)
      : lookUpRunner(env, secret, address));
    if (runner?.kind !== "runner") {
      throw refusal("unauthorized", "This is not the credential of a registered runner.");
    }
    return runner;
  }
  const principal = await findCached(env, secret, readKey, address, refresh);
  if (principal?.kind !== "key") throw refusal("unauthorized", "The key is unknown or was revoked.");
  if (!principal.scopes.includes("admin") && !principal.scopes.includes(access)) {
    throw refusal("forbidden", `This needs a key with the scope \`${access}\`.`);
  }
  if (isOperators && principal.project !== MAIN_PROJECT) {
    throw refusal("forbidden", `This is the operator's: it needs a key of the project \`${MAIN_PROJECT}\`.`);
  }
  return principal;
}

/** Forgets all keys in this isolate at once; other isolates do so within `keyExpiryMs`. */
export function forgetCachedKeys(): void {
  cache.clear();
}

type Read = (env: Env, secret: string, address: string | null) => Promise<Principal | null>;

/** With `refresh`, an aged entry serves once more while it is looked up behind the request. */
async function findCached(
  env: Env,
  secret: string,
  read: Read,
  address: string,
  refresh: WaitUntil | null,
): Promise<Principal | null> {
  const { keyRefreshMs, keyExpiryMs } = configOf(env);
  const cached = cache.get(secret);
  const keyAgeMs = cached === undefined ? Number.POSITIVE_INFINITY : ageMs(cached.readAtMs);
  if (cached !== undefined && keyAgeMs < keyRefreshMs) return cached.principal;
  if (cached === undefined || keyAgeMs > keyExpiryMs || refresh === null) return readAnew(env, secret, read, address);
  // One of the requests that come meanwhile is enough.
  if (ageMs(cached.askedAtMs) >= keyRefreshMs) {
    cached.askedAtMs = Date.now();
    refresh(readAnew(env, secret, read, address).catch(() => undefined));
  }
  return cached.principal;
}

/** Looks a runner's credential up; throws `rate-limited` for a known one that has sent too many requests. */
async function lookUpRunner(env: Env, secret: string, address: string): Promise<Principal | null> {
  const known = cache.get(secret)?.principal;
  if (known?.kind === "runner") checkRate(env, known);
  return readAnew(env, secret, readRunner, address);
}

async function readAnew(env: Env, secret: string, read: Read, address: string): Promise<Principal | null> {
  // A secret that was valid a while ago is looked up, however many wrong ones come from the same address.
  const principal = await read(env, secret, cache.get(secret) === undefined ? address : null);
  if (principal === null) cache.drop(secret);
  else cache.keep(secret, { principal, readAtMs: Date.now(), askedAtMs: Date.now() });
  return principal;
}

async function readRunner(env: Env, secret: string, address: string | null): Promise<Principal | null> {
  if (!isSecretOf("credential", secret)) return null;
  const runner = await lookUp(address, async () =>
    findRunnerByCredentialHash(openDatabase(env.DB), await hashSecret(secret)),
  );
  return runner === null ? null : { kind: "runner", ...runner };
}

async function readKey(env: Env, secret: string, address: string | null): Promise<Principal | null> {
  const { bootstrapSecret } = configOf(env);
  if (bootstrapSecret !== null && (await equalSecrets(bootstrapSecret, secret))) {
    return { kind: "key", id: "bootstrap", project: MAIN_PROJECT, scopes: ["admin"], requestsPerSecond: null };
  }
  if (!isSecretOf("key", secret)) return null;
  const key = await lookUp(address, async () =>
    findKeyByHash(openDatabase(env.DB), await hashSecret(secret), Date.now()),
  );
  return key === null ? null : { kind: "key", ...key };
}

/** An address with too many wrong secrets gets no look-up for a while. */
async function lookUp<Found>(address: string | null, find: () => Promise<Found | null>): Promise<Found | null> {
  if (address !== null) checkAddress(address);
  const found = await find();
  if (found === null && address !== null) noteWrongSecret(address);
  return found;
}

/** Compares digests in constant time, so that timing reveals nothing of the secret. */
async function equalSecrets(a: string, b: string): Promise<boolean> {
  const encoder = new TextEncoder();
  const [digestA, digestB] = await Promise.all(
    [a, b].map((text) => crypto.subtle.digest("SHA-256", encoder.encode(text))),
  );
  return digestA !== undefined && digestB !== undefined && crypto.subtle.timingSafeEqual(digestA, digestB);
}
