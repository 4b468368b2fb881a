import { ProblemError } from "../../protocol/wire/problem.ts";

/** Long-term rate in requests a second, and size of a burst after a rest. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface RateVerdict {
  readonly isAllowed: boolean;
  /** Requests that would be allowed at once now. */
  readonly remaining: number;
  /** Time until the whole burst is available again. */
  readonly resetMs: number;
  /** Time until the next allowed request after a refusal; otherwise 0. */
  readonly retryAfterMs: number;
}

/**
 * The generic cell rate algorithm: one number for each caller, the time at which its requests so far are worked off at
 * its rate. The clock is passed in.
 * Source: ITU-T I.371, annex A (virtual scheduling).
 */
export class RateLimiter {
  readonly #dueMs = new Map<string, number>();
  readonly #maxCallers: number;

  constructor(maxCallers: number) {
    this.#maxCallers = maxCallers;
  }

  /** Verdict that a request now would get. */
  look(caller: string, rate: Rate, nowMs: number): RateVerdict {
    return judge(this.#dueOf(caller, rate, nowMs), rate, nowMs);
  }

  /** Counts a request, unless it exceeds the rate. */
  spend(caller: string, rate: Rate, nowMs: number): RateVerdict {
    const dueMs = this.#dueOf(caller, rate, nowMs);
    if (!judge(dueMs, rate, nowMs).isAllowed) return judge(dueMs, rate, nowMs);
    if (!this.#dueMs.has(caller)) this.#makeRoom(nowMs);
    const nextMs = dueMs + 1_000 / rate.perSecond;
    this.#dueMs.set(caller, nextMs);
    return { ...judge(nextMs, rate, nowMs), isAllowed: true, retryAfterMs: 0 };
  }

  /** A debt is at most one burst: a later due time was noted before the clock was set back, and is dropped. */
  #dueOf(caller: string, { perSecond, burst }: Rate, nowMs: number): number {
    const dueMs = this.#dueMs.get(caller) ?? nowMs;
    const mostMs = nowMs + (burst * 1_000) / perSecond;
    return dueMs > mostMs ? nowMs : Math.max(dueMs, nowMs);
  }

  /** Callers without a debt are forgotten; if all have one, the oldest are. */
  #makeRoom(nowMs: number): void {
    if (this.#dueMs.size < this.#maxCallers) return;
    for (const [caller, dueMs] of this.#dueMs) if (dueMs <= nowMs) this.#dueMs.delete(caller);
    for (const caller of this.#dueMs.keys()) {
      if (this.#dueMs.size < this.#maxCallers) return;
      this.#dueMs.delete(caller);
    }
  }
}

function judge(dueMs: number, { perSecond, burst }: Rate, nowMs: number): RateVerdict {
  const resetMs = dueMs - nowMs;
  const left = burst - (resetMs * perSecond) / 1_000;
  const isAllowed = left >= 1 - 1e-9;
  return {
    isAllowed,
    remaining: Math.max(0, Math.floor(left + 1e-9)),
    resetMs,
    retryAfterMs: isAllowed ? 0 : ((1 - left) / perSecond) * 1_000,
  };
}

/** Counts amounts against one rate for one caller, as `RateLimiter` counts requests of many, without an allocation. */
export class Meter {
  readonly #rate: Rate;
  /** What has been taken and is not worked off. */
  #taken = 0;
  #atMs = 0;

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** Counts an amount; false for one beyond the rate, which does not count. */
  take(amount: number, nowMs: number): boolean {
    const { perSecond, burst } = this.#rate;
    // The clock may have been set back meanwhile.
    const passedMs = Math.max(0, nowMs - this.#atMs);
    this.#taken = Math.max(0, this.#taken - (passedMs * perSecond) / 1_000);
    this.#atMs = nowMs;
    if (this.#taken + amount > burst) return false;
    this.#taken += amount;
    return true;
  }
}

/** Rate at which one address may send unknown secrets; each costs a database look-up. */
const WRONG_SECRETS = { perSecond: 2, burst: 100 };
const KNOWN_ADDRESSES = 10_000;

const limiter = new RateLimiter(KNOWN_ADDRESSES);

/** Throws `rate-limited` for an address with too many unknown secrets of late, which gets no look-up. */
export function checkAddress(address: string): void {
  const { isAllowed, retryAfterMs } = limiter.look(address, WRONG_SECRETS, Date.now());
  if (isAllowed) return;
  const detail = "Too many wrong keys, tokens or credentials came from this address.";
  throw new ProblemError("rate-limited", detail, { retryAfterMs: Math.ceil(retryAfterMs) });
}

/** Counts an unknown secret from the address. */
export function noteWrongSecret(address: string): void {
  limiter.spend(address, WRONG_SECRETS, Date.now());
}

/**
 * Source of a request, as Cloudflare reports its address; on one machine all requests share one. Of IPv6 it is the
 * network of 64 bits that a subscriber has (RFC 6177): each of its addresses would be as good as the last.
 */
export function addressOf(request: Request): string {
  const address = request.headers.get("cf-connecting-ip") ?? "";
  return address.includes(":") ? networkOf(address) : address;
}

/** The first four groups of an IPv6 address, whose longest run of zeros may be left out (RFC 5952). */
function networkOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind = tail === undefined || tail === "" ? [] : tail.split(":");
  const left = tail === undefined ? [] : Array<string>(Math.max(0, 8 - groups.length - behind.length)).fill("0");
  const all = [...groups, ...left, ...behind].map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""));
  return `${all.slice(0, 4).join(":")}::/64`;
}
