import type { Endpoint } from "../protocol/endpoint.ts";
import { ProblemError, PROBLEMS } from "../protocol/wire/problem.ts";
import type { RequestParts } from "./call-options.ts";

const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/** Wait before the attempt after `failures` failed ones: doubling, with jitter of a half. */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return ceiling * (0.5 + random() / 2);
}

/** Waits; resolves early, without an error, when the signal aborts. */
export function waitMs(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, durationMs);
    signal?.addEventListener("abort", finish);
  });
}

/** Whether another attempt may help; fetch throws a TypeError when the network fails. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ProblemError) return PROBLEMS[error.problem.code].retryable;
  return error instanceof TypeError;
}

/** A wait that is about to begin, and what it is for. */
export interface RetryNotice {
  readonly endpoint: Endpoint;
  /** Attempts that have failed so far. */
  readonly failures: number;
  readonly waitMs: number;
  readonly error: unknown;
}

export interface RetryOptions {
  /** Largest number of attempts of one request, the first included. */
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
 * Repeats requests that failed on the network or by a retryable problem: reads, PUT and DELETE, and POSTs that the
 * table marks as repeatable. An inference is never repeated: it may have been computed, and a refusal for its budget
 * would be repeated for the rest of it. Waits as long as the problem says, or longer with each failure.
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
