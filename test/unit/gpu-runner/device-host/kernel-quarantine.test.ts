import { describe, expect, it } from "vitest";
import {
  type FailureRecord,
  lockedOutForMs,
  noteFailure,
  QUARANTINE_AFTER,
  QUARANTINE_MS,
} from "../../../../src/gpu-runner/device-host/quarantine.ts";

const HOUR_MS = 3_600_000;

/** Fails this often, each time a second after the lock-out or the failure before. */
function failTimes(times: number, digest = "a"): { record: FailureRecord; nowMs: number } {
  let nowMs = 0;
  let record: FailureRecord | undefined;
  for (let i = 0; i < times; i++) {
    nowMs = Math.max(nowMs, record?.untilMs ?? 0) + 1_000;
    record = noteFailure(record, { digest, code: "device-lost", nowMs });
  }
  if (record === undefined) throw new Error("it never failed");
  return { record, nowMs };
}

describe("a kernel that fails", () => {
  it("is locked out after a few failures in a row, for a while", () => {
    const { record, nowMs } = failTimes(QUARANTINE_AFTER - 1);
    expect(lockedOutForMs(record, "a", nowMs)).toBeNull();
    const locked = failTimes(QUARANTINE_AFTER);
    expect(locked.record).toMatchObject({ failures: QUARANTINE_AFTER, code: "device-lost" });
    expect(lockedOutForMs(locked.record, "a", locked.nowMs)).toBe(QUARANTINE_MS[0]);
    expect(lockedOutForMs(locked.record, "a", locked.nowMs + QUARANTINE_MS[0] - 1)).toBe(1);
    expect(lockedOutForMs(locked.record, "a", locked.nowMs + QUARANTINE_MS[0])).toBeNull();
  });

  it("is locked out for longer each time that its one try fails, up to a bound", () => {
    const lockouts = [0, 1, 2, 3, 4, 5].map((more) => {
      const { record, nowMs } = failTimes(QUARANTINE_AFTER + more);
      return lockedOutForMs(record, "a", nowMs);
    });
    expect(lockouts).toEqual([...QUARANTINE_MS, QUARANTINE_MS.at(-1), QUARANTINE_MS.at(-1)]);
  });

  it("is let in at once as another program, whose failures are counted anew", () => {
    const { record, nowMs } = failTimes(QUARANTINE_AFTER);
    expect(lockedOutForMs(record, "b", nowMs)).toBeNull();
    expect(noteFailure(record, { digest: "b", code: "kernel-timeout", nowMs })).toEqual({
      digest: "b",
      failures: 1,
      code: "kernel-timeout",
      lastFailureAtMs: nowMs,
      untilMs: null,
    });
  });

  it("has failures forgotten that are an hour old, counted from the end of a lock-out", () => {
    const { record, nowMs } = failTimes(QUARANTINE_AFTER - 1);
    const later = noteFailure(record, { digest: "a", code: "device-lost", nowMs: nowMs + HOUR_MS + 1 });
    expect(later.failures).toBe(1);
    const locked = failTimes(QUARANTINE_AFTER + 3);
    const afterLockout = (locked.record.untilMs ?? 0) + HOUR_MS;
    expect(noteFailure(locked.record, { digest: "a", code: "device-lost", nowMs: afterLockout }).failures).toBe(
      QUARANTINE_AFTER + 4,
    );
    expect(noteFailure(locked.record, { digest: "a", code: "device-lost", nowMs: afterLockout + 1 }).failures).toBe(1);
  });

  it("that never failed may run", () => {
    expect(lockedOutForMs(undefined, "a", 0)).toBeNull();
  });
});
