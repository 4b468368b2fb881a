import { describe, expect, it } from "vitest";
import {
  cancel,
  expireLease,
  failAttempt,
  grantLease,
  hasEnded,
  holdsLease,
  type JobRecord,
  renewLease,
  revokeLease,
  succeed,
} from "../../../../src/edge/queue/lease-machine.ts";
import type { Lease } from "../../../../src/protocol/link.ts";
import { createProblem, PROBLEMS, type ProblemCode } from "../../../../src/protocol/wire/problem.ts";
import { fc } from "../../property.ts";
import { queuedRecord } from "./queued-record.ts";

const LEASE_MS = 100;
const RUNNERS = ["rnr_a", "rnr_b"];

const queued = (maxAttempts: number) => queuedRecord("job_x", maxAttempts);

/** Actions of the queue on a job; `which` picks one of all leases so far. */
const step = fc.record({
  act: fc.constantFrom("grant", "renew", "wait", "expire", "fail", "succeed", "cancel", "revoke" as const),
  which: fc.nat(20),
  waitMs: fc.nat(2 * LEASE_MS),
  code: fc.constantFrom(...(Object.keys(PROBLEMS) as ProblemCode[])),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

interface GivenLease {
  readonly lease: Lease;
  readonly runnerId: string;
}

/** The job and a runner-side observer's view of it. */
interface World {
  job: JobRecord;
  nowMs: number;
  readonly given: GivenLease[];
  revoked: number;
  endings: number;
}

/** One step as the queue would take it: an outcome or a renewal counts only under the lease that holds. */
function take(world: World, { act, which, waitMs, code }: Step): JobRecord {
  const { job, nowMs, given } = world;
  const picked = given[which % Math.max(1, given.length)];
  const holds = picked !== undefined && holdsLease(job, picked.lease, picked.runnerId);
  switch (act) {
    case "grant": {
      if (job.state !== "queued") return job;
      const runnerId = RUNNERS[which % RUNNERS.length] ?? "";
      const granted = grantLease(job, runnerId, nowMs, LEASE_MS);
      given.push({ lease: { jobId: job.id, epoch: granted.epoch }, runnerId });
      return granted;
    }
    case "renew":
      return holds ? renewLease(job, nowMs, LEASE_MS) : job;
    case "wait":
      world.nowMs += waitMs;
      return job;
    case "expire":
      return expireLease(job, nowMs);
    case "fail":
      return holds ? failAttempt(job, createProblem(code, "sample"), nowMs) : job;
    case "succeed":
      return holds ? succeed(job, nowMs) : job;
    case "cancel":
      return cancel(job, nowMs);
    case "revoke":
      if (!holds) return job;
      world.revoked++;
      return revokeLease(job);
  }
}

describe("the lease machine", () => {
  it("keeps its promises under any sequence of events", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), (maxAttempts, steps) => {
        const world: World = { job: queued(maxAttempts), nowMs: 1_000, given: [], revoked: 0, endings: 0 };
        for (const next of steps) {
          const before = world.job;
          const after = take(world, next);
          world.job = after;
          if (!hasEnded(before) && hasEnded(after)) world.endings++;
          // A lease's number never falls, and each lease has its own.
          expect(after.epoch).toBeGreaterThanOrEqual(before.epoch);
          expect(world.given.map(({ lease }) => lease.epoch)).toEqual(world.given.map((_, index) => index + 1));
          // A lease that never arrived does not count; the others are at most maxAttempts.
          expect(after.attempt).toBe(world.given.length - world.revoked);
          expect(after.attempt).toBeLessThanOrEqual(maxAttempts);
          // An ended job stays so, whatever arrives late.
          if (hasEnded(before)) expect(after).toEqual(before);
          // A lease, and only a lease, has a holder and an end.
          expect(after.leaseUntilMs !== null).toBe(after.state === "leased");
          if (after.state === "leased") expect(after.runnerId).not.toBeNull();
          if (after.state === "queued") expect(after.runnerId).toBeNull();
          expect(after.endedAtMs !== null).toBe(hasEnded(after));
          expect(after.problem !== null || after.state !== "failed").toBe(true);
          // At most one of all leases ever given holds, and none when nothing is leased.
          const holding = world.given.filter(({ lease, runnerId }) => holdsLease(after, lease, runnerId));
          expect(holding).toHaveLength(after.state === "leased" ? 1 : 0);
        }
        expect(world.endings).toBeLessThanOrEqual(1);
      }),
      { numRuns: 500 },
    );
  });

  it("lets a lease be, until it has run out", () => {
    const leased = grantLease(queued(1), "rnr_a", 0, LEASE_MS);
    expect(expireLease(leased, LEASE_MS - 1)).toBe(leased);
    expect(expireLease(renewLease(leased, 50, LEASE_MS), LEASE_MS).state).toBe("leased");
    expect(expireLease(leased, LEASE_MS)).toMatchObject({
      state: "failed",
      problem: { code: "lease-expired" },
      endedAtMs: LEASE_MS,
    });
    expect(expireLease(queued(1), 10 ** 9)).toEqual(queued(1));
  });

  it("tries again only what may pass, and no more often than it may", () => {
    const first = grantLease(queued(2), "rnr_a", 0, LEASE_MS);
    const passing = createProblem("device-lost", "It died.");
    const lasting = createProblem("kernel-incorrect", "It is wrong.");
    expect(failAttempt(first, lasting, 5)).toMatchObject({ state: "failed", problem: lasting });
    const again = failAttempt(first, passing, 5);
    expect(again).toMatchObject({ state: "queued", attempt: 1, epoch: 1, endedAtMs: null });
    const second = grantLease(again, "rnr_b", 10, LEASE_MS);
    expect(second).toMatchObject({ attempt: 2, epoch: 2, startedAtMs: 0 });
    expect(failAttempt(second, passing, 15)).toMatchObject({ state: "failed", endedAtMs: 15 });
  });

  it("knows a lease by its number and its runner", () => {
    const leased = grantLease(queued(1), "rnr_a", 0, LEASE_MS);
    const lease = { jobId: "job_x", epoch: 1 };
    expect(holdsLease(leased, lease, "rnr_a")).toBe(true);
    expect(holdsLease(leased, lease, "rnr_b")).toBe(false);
    expect(holdsLease(leased, { ...lease, epoch: 2 }, "rnr_a")).toBe(false);
    expect(holdsLease(succeed(leased, 1), lease, "rnr_a")).toBe(false);
  });
});
