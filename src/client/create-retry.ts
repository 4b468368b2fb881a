import type { Endpoint } from "../protocol/endpoint.ts";
import { ProblemError } from "../protocol/problem.ts";
import { backoffMs, waitMs } from "./backoff.ts";
import type { RequestParts } from "./call-options.ts";
import { isPassing } from "./is-passing.ts";

/** A wait that is about to begin, and what it is for. */
export interface RetryNotice {
  readonly endpoint: Endpoint;
  /** Attempts that have failed so far. */
  readonly failures: number;
  readonly waitMs: number;
  readonly error: unknown;
}

export interface RetryOptions {
  /** How often one request is sent at most, the first time included. */
  readonly attempts?: number;
  /** No wait begins that would end later than this, counted from the first attempt. */
  readonly totalMs?: number;
  /** Hears of every wait. */
  readonly onRetry?: (notice: RetryNotice) => void;
}

/** Makes a request, and makes it again where that is harmless and may help. */
export type Retry = <Value>(
  endpoint: Endpoint,
  parts: RequestParts,
  attempt: (parts: RequestParts) => Promise<Value>,
) => Promise<Value>;

const ATTEMPTS = 4;
const TOTAL_MS = 30_000;

/**
 * Repeats what failed on the way or by a problem that passes: reads, PUT and DELETE, and a POST of which the table says
 * that it may be sent again. An inference is never repeated: it may have been computed, and what was refused for its
 * budget would be refused for what is left of it. Waits as long as the problem says, or longer with each failure.
 */
export function createRetry(options: RetryOptions = {}): Retry {
  const { attempts = ATTEMPTS, totalMs = TOTAL_MS, onRetry } = options;
  return async (endpoint, parts, attempt) => {
    const repeatable = makeRepeatable(endpoint, parts);
    if (repeatable === null) return attempt(parts);
    const { signal } = parts;
    const endMs = performance.now() + totalMs;
    for (let failures = 1; ; failures++) {
      try {
        return await attempt(repeatable);
      } catch (error) {
        const pauseMs = Math.max(backoffMs(failures), askedPauseMs(error));
        const isLast = failures >= attempts || performance.now() + pauseMs > endMs;
        if (signal?.aborted === true || isLast || !isPassing(error)) throw error;
        onRetry?.({ endpoint, failures, waitMs: pauseMs, error });
        await waitMs(pauseMs, signal);
        signal?.throwIfAborted();
      }
    }
  };
}

/** The same request in a form that may be sent again; null where there is none. */
function makeRepeatable(endpoint: Endpoint, parts: RequestParts): RequestParts | null {
  if (endpoint.method !== "post" || endpoint.repeatable === "as-it-is") return parts;
  if (endpoint.repeatable === undefined) return null;
  return { ...parts, headers: { "idempotency-key": crypto.randomUUID(), ...present(parts.headers) } };
}

/** Without what is there by name only, so that it does not hide the key. */
function present(headers: unknown): object {
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([, value]) => value !== undefined));
}

function askedPauseMs(error: unknown): number {
  return error instanceof ProblemError ? (error.problem.retryAfterMs ?? 0) : 0;
}
