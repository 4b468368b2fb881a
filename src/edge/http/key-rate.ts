import { ProblemError } from "../../protocol/wire/problem.ts";
import { MAIN_PROJECT } from "../../protocol/service/project.ts";
import { configOf, type Env } from "../config.ts";
import type { Principal } from "./auth.ts";
import { type Rate, RateLimiter, type RateVerdict } from "./rate-limiter.ts";

/** Length of the burst: the requests that the rate allows in so many seconds. */
const WINDOW_S = 2;
/** Time for which a key stays closed after the platform's counter, which sees all isolates, found it over its limit. */
const CLOSED_MS = 1_000;
const KNOWN_CALLERS = 10_000;

const limiter = new RateLimiter(KNOWN_CALLERS);
const closedUntilMs = new Map<string, number>();

type Key = Extract<Principal, { kind: "key" }>;

/** State of a key's rate, or of its project's, reported with each reply. */
export interface KeyRate {
  readonly policy: "key" | "project";
  readonly rate: Rate;
  readonly verdict: RateVerdict;
}

/**
 * Counts a request of a key, and of its project unless that is the operator's; throws `rate-limited`.
 * This isolate counts what it sees itself. The platform's counter, where there is one, affects later requests only, so
 * that no request waits for it.
 */
export function spendRate(env: Env, key: Key, waitUntil: (work: Promise<unknown>) => void): KeyRate {
  const { keyRequestsPerSecond, projectRequestsPerSecond } = configOf(env);
  const nowMs = Date.now();
  const rate = rateOf(key.requestsPerSecond ?? keyRequestsPerSecond);
  const told = { policy: "key", rate, verdict: limiter.spend(key.id, rate, nowMs) } as const;
  if (!told.verdict.isAllowed) throw new RateLimited(told);
  if (key.project !== MAIN_PROJECT) {
    const shared = rateOf(projectRequestsPerSecond);
    const verdict = limiter.spend(`project ${key.project}`, shared, nowMs);
    if (!verdict.isAllowed) throw new RateLimited({ policy: "project", rate: shared, verdict });
  }
  // The platform's counter has one limit: it may not judge a key with a higher one.
  if (rate.perSecond <= keyRequestsPerSecond && env.KEY_LIMITER !== undefined) {
    waitUntil(countElsewhere(env.KEY_LIMITER, key.id));
    const retryAfterMs = (closedUntilMs.get(key.id) ?? 0) - nowMs;
    if (retryAfterMs > 0) {
      throw new RateLimited({ ...told, verdict: { ...told.verdict, isAllowed: false, remaining: 0, retryAfterMs } });
    }
  }
  return told;
}

/** A refusal, with the state that its headers report. */
export class RateLimited extends ProblemError {
  readonly told: KeyRate;

  constructor(told: KeyRate) {
    const { perSecond, burst } = told.rate;
    const detail = `This ${told.policy} may send ${perSecond} requests a second, and ${burst} at once.`;
    super("rate-limited", detail, { retryAfterMs: Math.max(1, Math.ceil(told.verdict.retryAfterMs)) });
    this.told = told;
  }
}

/**
 * `RateLimit-Policy` and `RateLimit` headers.
 * Source: draft-ietf-httpapi-ratelimit-headers-10.
 */
export function rateHeaders({ policy, rate, verdict }: KeyRate): Record<string, string> {
  return {
    "ratelimit-policy": `"${policy}";q=${rate.burst};w=${WINDOW_S}`,
    ratelimit: `"${policy}";r=${verdict.remaining};t=${Math.ceil(verdict.resetMs / 1_000)}`,
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
