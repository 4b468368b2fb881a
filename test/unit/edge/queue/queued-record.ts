import type { JobRecord } from "../../../../src/edge/queue/lease-machine.ts";

/** A job as it is when it has just come. */
export function queuedRecord(id: string, maxAttempts: number): JobRecord {
  return {
    id,
    state: "queued",
    attempt: 0,
    maxAttempts,
    epoch: 0,
    runnerId: null,
    leaseUntilMs: null,
    startedAtMs: null,
    endedAtMs: null,
    problem: null,
  };
}
