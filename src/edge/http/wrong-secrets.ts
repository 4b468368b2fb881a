import { ProblemError } from "../../protocol/problem.ts";
import { RateLimiter } from "./rate-limiter.ts";

/** How often an address may come with a secret that nobody has; each costs the database a look-up. */
const WRONG_SECRETS = { perSecond: 2, burst: 100 };
const KNOWN_ADDRESSES = 10_000;

const limiter = new RateLimiter(KNOWN_ADDRESSES);

/** Throws `rate-limited` where this address was wrong too often of late: then nothing is looked up for it. */
export function checkAddress(address: string): void {
  const { isAllowed, retryAfterMs } = limiter.look(address, WRONG_SECRETS, Date.now());
  if (isAllowed) return;
  const detail = "Too many wrong keys, tokens or credentials came from this address.";
  throw new ProblemError("rate-limited", detail, { retryAfterMs: Math.ceil(retryAfterMs) });
}

/** The address came with a secret that nobody has. */
export function noteWrongSecret(address: string): void {
  limiter.spend(address, WRONG_SECRETS, Date.now());
}

/** Where a request comes from, as Cloudflare tells; on one machine all come from the same. */
export function addressOf(request: Request): string {
  return request.headers.get("cf-connecting-ip") ?? "";
}
