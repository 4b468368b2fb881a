import { type ProblemCode, ProblemError } from "../../protocol/problem.ts";
import { type FailureRecord, isForgotten, lockedOutForMs, noteFailure } from "./kernel-quarantine.ts";

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
