import { ProblemError } from "../../protocol/wire/problem.ts";
import { MAIN_PROJECT } from "../../protocol/service/project.ts";
import { configOf, type Env } from "../config.ts";
import type { Principal } from "./auth.ts";
import { type Rate, RateLimiter, type RateVerdict } from "./rate-limiter.ts";

/** The burst is what comes in by the rate in so many seconds. */
const WINDOW_S = 2;
/** How long a key stays closed that the platform's own counter, which sees other isolates, too, found over its limit. */
const CLOSED_MS = 1_000;
const KNOWN_CALLERS = 10_000;

const limiter = new RateLimiter(KNOWN_CALLERS);
const closedUntilMs = new Map<string, number>();

type Key = Extract<Principal, { kind: "key" }>;

/** What is told of a key's rate with each reply. */
export interface KeyRate {
  readonly rate: Rate;
  readonly verdict: RateVerdict;
}

/**
 * Counts a request of a key, and of its project unless that is the operator's; throws `rate-limited`. Counted is what
 * this isolate sees; where the platform counts, too, what it finds holds for the requests after this one, so that none
 * waits for it.
 */
export function spendRate(env: Env, key: Key, waitUntil: (work: Promise<unknown>) => void): KeyRate {
  const { keyRequestsPerSecond, projectRequestsPerSecond } = configOf(env);
  const nowMs = Date.now();
  const rate = rateOf(key.requestsPerSecond ?? keyRequestsPerSecond);
  const told = { rate, verdict: limiter.spend(key.id, rate, nowMs) };
  if (!told.verdict.isAllowed) throw new RateLimited("key", told);
  if (key.project !== MAIN_PROJECT) {
    const shared = rateOf(projectRequestsPerSecond);
    const verdict = limiter.spend(`project ${key.project}`, shared, nowMs);
    if (!verdict.isAllowed) throw new RateLimited("project", { rate: shared, verdict });
  }
  // The platform's counter knows one limit, and judges nobody by less than his own.
  if (rate.perSecond <= keyRequestsPerSecond && env.KEY_LIMITER !== undefined) {
    waitUntil(countElsewhere(env.KEY_LIMITER, key.id));
    const retryAfterMs = (closedUntilMs.get(key.id) ?? 0) - nowMs;
    if (retryAfterMs > 0) {
      throw new RateLimited("key", {
        rate,
        verdict: { ...told.verdict, isAllowed: false, remaining: 0, retryAfterMs },
      });
    }
  }
  return told;
}

/** A refusal, with what the headers tell of it. */
export class RateLimited extends ProblemError {
  readonly told: KeyRate;

  constructor(whose: "key" | "project", told: KeyRate) {
    const { perSecond, burst } = told.rate;
    const detail = `This ${whose} may send ${perSecond} requests a second, and ${burst} at once.`;
    super("rate-limited", detail, { retryAfterMs: Math.max(1, Math.ceil(told.verdict.retryAfterMs)) });
    this.told = told;
  }
}

/** `RateLimit-Policy` and `RateLimit`, by draft-ietf-httpapi-ratelimit-headers-10. */
export function rateHeaders({ rate, verdict }: KeyRate): Record<string, string> {
  return {
    "ratelimit-policy": `"key";q=${rate.burst};w=${WINDOW_S}`,
    ratelimit: `"key";r=${verdict.remaining};t=${Math.ceil(verdict.resetMs / 1_000)}`,
  };
}

function rateOf(perSecond: number): Rate {
  return { perSecond, burst: Math.max(1, Math.ceil(perSecond * WINDOW_S)) };
}

async function countElsewhere(counter: RateLimit, key: string): Promise<void> {
  const { success } = await counter.limit({ key });
  if (success) return;
  if (closedUntilMs.size >= KNOWN_CALLERS) closedUntilMs.clear();
  closedUntilMs.set(key, Date.now() + CLOSED_MS);
}
