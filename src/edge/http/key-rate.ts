import { ProblemError } from "../../protocol/wire/problem.ts";
import { MAIN_PROJECT } from "../../protocol/service/project.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
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

/**
 * State of the rate of a key or a runner's credential, or of the project or what it asks of the queue, reported with each
 * reply.
 */
export interface KeyRate {
  readonly policy: "key" | "runner" | "project" | "queue";
  readonly rate: Rate;
  readonly verdict: RateVerdict;
}

/**
 * Counts a request of a key or a runner, and of all keys or runners of its project unless that is the operator's. Throws
 * `rate-limited`. This isolate counts what it sees itself. The platform's counter, where there is one, affects later
 * requests only, so that no request waits for it. `isLoad`: the route takes a runner's load, whose measure is the
 * project's rate.
 */
export function spendRate(
  env: Env,
  caller: Principal,
  waitUntil: (work: Promise<unknown>) => void,
  isLoad = false,
): KeyRate {
  const told = judgeRate(env, caller, isLoad, "spend");
  if (isCountedElsewhere(env, told)) {
    waitUntil(countElsewhere(env.KEY_LIMITER, caller.id));
    checkClosed(told, caller.id);
  }
  return told;
}

/**
 * Counts a request that asks the queue's object, of all keys of a project together unless that is the operator's. Throws
 * `rate-limited` as `spendRate` does.
 */
export function spendQueueRate(
  env: Env,
  { project }: Pick<Principal, "project">,
  waitUntil: (work: Promise<unknown>) => void,
): void {
  if (project === MAIN_PROJECT) return;
  const holder = `queue ${project}`;
  const rate = rateOf(LIMITS.queueRequestsPerSecond);
  const told = { policy: "queue", rate, verdict: limiter.spend(holder, rate, Date.now()) } as const;
  if (!told.verdict.isAllowed) throw new RateLimited(told);
  if (env.QUEUE_LIMITER === undefined) return;
  waitUntil(countElsewhere(env.QUEUE_LIMITER, holder));
  checkClosed(told, holder);
}

/** Throws `rate-limited` where `spendRate` would, and counts nothing: before a credential is looked up. */
export function checkRate(env: Env, caller: Principal): void {
  const told = judgeRate(env, caller, false, "look");
  if (isCountedElsewhere(env, told)) checkClosed(told, caller.id);
}

function judgeRate(env: Env, caller: Principal, isLoad: boolean, how: "look" | "spend"): KeyRate {
  const { keyRequestsPerSecond, projectRequestsPerSecond } = configOf(env);
  const nowMs = Date.now();
  const isRunnersLoad = caller.kind === "runner" && isLoad;
  const own = caller.kind === "key" ? caller.requestsPerSecond : null;
  const rate = rateOf(own ?? (isRunnersLoad ? projectRequestsPerSecond : keyRequestsPerSecond));
  const verdict = limiter[how](isRunnersLoad ? `load ${caller.id}` : caller.id, rate, nowMs);
  const told = { policy: caller.kind, rate, verdict };
  if (!verdict.isAllowed) throw new RateLimited(told);
  if (caller.project !== MAIN_PROJECT) {
    const shared = rateOf(projectRequestsPerSecond);
    // Callers must not keep their project's runners from coming back.
    const holder = caller.kind === "key" ? "project" : "runners";
    const joint = limiter[how](`${holder} ${caller.project}`, shared, nowMs);
    if (!joint.isAllowed) throw new RateLimited({ policy: "project", rate: shared, verdict: joint });
  }
  return told;
}

/** The platform's counter has one limit: it may not judge a key with a higher one. */
function isCountedElsewhere(env: Env, { rate }: KeyRate): env is Env & { readonly KEY_LIMITER: RateLimit } {
  return rate.perSecond <= configOf(env).keyRequestsPerSecond && env.KEY_LIMITER !== undefined;
}

function checkClosed(told: KeyRate, holder: string): void {
  const retryAfterMs = (closedUntilMs.get(holder) ?? 0) - Date.now();
  if (retryAfterMs <= 0) return;
  throw new RateLimited({ ...told, verdict: { ...told.verdict, isAllowed: false, remaining: 0, retryAfterMs } });
}

/** A refusal, with the state that its headers report. */
export class RateLimited extends ProblemError {
  readonly told: KeyRate;

  constructor(told: KeyRate) {
    const { perSecond, burst } = told.rate;
    const [who, what] =
      told.policy === "queue" ? ["project", "requests to the queue of jobs"] : [told.policy, "requests"];
    const detail = `This ${who} may send ${perSecond} ${what} a second, and ${burst} at once.`;
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
