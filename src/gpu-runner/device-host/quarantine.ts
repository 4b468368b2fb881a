import { z } from "zod";
import { Problem, type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";

/** Failures of a kernel on one kind of device since it last ran well there. */
export const FailureRecord = z.object({
  /** Digest of the program that failed: another program starts with no failures. */
  digest: z.string(),
  /** Number of failures in a row. */
  failures: z.number().int().min(1),
  /** Problem code of the last failure. */
  code: Problem.shape.code,
  lastFailureAtMs: z.number(),
  /** Time from which it may be tried again; null while it has failed too seldom for a lockout. */
  untilMs: z.number().nullable(),
});
export type FailureRecord = z.infer<typeof FailureRecord>;

/** Number of failures in a row that lock a kernel out. */
export const QUARANTINE_AFTER = 3;
/** Age from which a failure no longer counts, unless the kernel is locked out. */
const FORGET_AFTER_MS = 3_600_000;
/** Durations of lockouts, by the number of earlier ones; the last one repeats. */
export const QUARANTINE_MS = [60_000, 300_000, 1_800_000, 21_600_000] as const;

/** Whether a record no longer counts. */
export function isForgotten({ lastFailureAtMs, untilMs }: FailureRecord, nowMs: number): boolean {
  return nowMs - Math.max(lastFailureAtMs, untilMs ?? 0) > FORGET_AFTER_MS;
}

/**
 * Notes a kernel's failure on a device: a crash, a timeout or the loss of the device. After `QUARANTINE_AFTER` failures
 * in a row the kernel is locked out.
 * After the lockout it gets one try, whose failure locks it out for longer. Pure; the clock is the wall's.
 * Source: the circuit breaker of M. Nygard, "Release It!", 2007.
 */
export function noteFailure(
  before: FailureRecord | undefined,
  { digest, code, nowMs }: { digest: string; code: FailureRecord["code"]; nowMs: number },
): FailureRecord {
  const isStale = before === undefined || before.digest !== digest || isForgotten(before, nowMs);
  const failures = isStale ? 1 : before.failures + 1;
  const lockouts = failures - QUARANTINE_AFTER;
  const untilMs = lockouts < 0 ? null : nowMs + QUARANTINE_MS[Math.min(lockouts, QUARANTINE_MS.length - 1)]!;
  return { digest, failures, code, lastFailureAtMs: nowMs, untilMs };
}

/** Remaining lockout of a program, in milliseconds; null where it may run. */
export function lockedOutForMs(record: FailureRecord | undefined, digest: string, nowMs: number): number | null {
  if (record === undefined || record.untilMs === null || record.digest !== digest) return null;
  return record.untilMs > nowMs ? record.untilMs - nowMs : null;
}

/** Digest of every model: a key names one immutable file, so its program never changes. */
const DIGEST = "";

/**
 * Quarantine of models that ended a device's process by taking too long, using too much memory, or crashing it. Like
 * kernels they are locked out after the third time, for longer each time.
 * Unlike for kernels, answers in between clear nothing: one request may be harmless and the next not, and models beside
 * them suffer each time.
 * An hour without such an end clears the record, and so does a restart of the runner.
 */
export class ModelQuarantine {
  readonly #records = new Map<string, FailureRecord>();

  /** Notes that a model ended the process. */
  note(modelKey: string, code: ProblemCode, nowMs: number): void {
    for (const [key, record] of this.#records) if (isForgotten(record, nowMs)) this.#records.delete(key);
    this.#records.set(modelKey, noteFailure(this.#records.get(modelKey), { digest: DIGEST, code, nowMs }));
  }

  /** Throws `model-quarantined` where a model is locked out now. */
  refuse(modelKey: string, nowMs: number): void {
    const record = this.#records.get(modelKey);
    const retryAfterMs = lockedOutForMs(record, DIGEST, nowMs);
    if (record === undefined || retryAfterMs === null) return;
    const detail = `The model ended the device's process ${record.failures} times, the last time with ${record.code}`;
    throw new ProblemError("model-quarantined", detail, { retryAfterMs });
  }
}
