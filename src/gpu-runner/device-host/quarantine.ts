import { z } from "zod";
import { Problem, type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";

/** How a kernel has failed on one kind of device since it last ran well there. */
export const FailureRecord = z.object({
  /** Of the program that failed: another one starts anew. */
  digest: z.string(),
  /** Failures in a row. */
  failures: z.number().int().min(1),
  /** How it failed last. */
  code: Problem.shape.code,
  lastFailureAtMs: z.number(),
  /** When it may be tried again; null while it failed too seldom to be locked out. */
  untilMs: z.number().nullable(),
});
export type FailureRecord = z.infer<typeof FailureRecord>;

/** So many failures in a row lock a kernel out. */
export const QUARANTINE_AFTER = 3;
/** A failure that is older counts for nothing, unless the kernel is locked out. */
const FORGET_AFTER_MS = 3_600_000;
/** For how long, by how often it was locked out before; the last one repeats. */
export const QUARANTINE_MS = [60_000, 300_000, 1_800_000, 21_600_000] as const;

/** Whether a record counts for nothing any more. */
export function isForgotten({ lastFailureAtMs, untilMs }: FailureRecord, nowMs: number): boolean {
  return nowMs - Math.max(lastFailureAtMs, untilMs ?? 0) > FORGET_AFTER_MS;
}

/**
 * A kernel failed on a device, by a crash, a timeout or the loss of the device. After `QUARANTINE_AFTER`
 * failures in a row it is locked out; when that ends it gets one try, whose failure locks it out for longer
 * (the circuit breaker of M. Nygard, "Release It!", 2007). Pure; the clock is the wall's.
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

/** For how long a program stays locked out, in milliseconds; null where it may run. */
export function lockedOutForMs(record: FailureRecord | undefined, digest: string, nowMs: number): number | null {
  if (record === undefined || record.untilMs === null || record.digest !== digest) return null;
  return record.untilMs > nowMs ? record.untilMs - nowMs : null;
}

/** A key names one immutable file: there is no other program under it. */
const DIGEST = "";

/**
 * Which models ended a device's process, by taking too long, too much memory, or by crashing it. Like kernels they are
 * locked out after the third time, for longer each time. Unlike theirs, their answers in between count for nothing:
 * one request may be harmless and the next not, and whoever serves beside them pays for each. An hour without an end
 * is forgiven, and so is all when the runner starts.
 */
export class ModelQuarantine {
  readonly #records = new Map<string, FailureRecord>();

  /** A model ended the process. */
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
