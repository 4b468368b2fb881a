import { describe, expect, it } from "vitest";
import {
  blamesRunner,
  GOOD_STANDING,
  noteFailedJob,
  noteFlap,
  noteSuccess,
  quarantineAt,
  type RunnerStanding,
} from "../../../../src/edge/queue/runner-standing.ts";
import { BenchmarkSpec } from "../../../../src/protocol/jobs/benchmark.ts";
import { CalibrationSpec } from "../../../../src/protocol/jobs/calibration.ts";
import { createId } from "../../../../src/protocol/wire/id.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { createProblem, PROBLEMS, type ProblemCode } from "../../../../src/protocol/wire/problem.ts";
import { ValidationSpec } from "../../../../src/protocol/jobs/validation.ts";
import { fc } from "../../property.ts";

const [FIRST_MS, SECOND_MS, THIRD_MS] = LIMITS.quarantineMs;
const problem = createProblem("device-lost", "It died.");
const fail = (standing: RunnerStanding, jobId: string, nowMs: number, ranMs = 0) =>
  noteFailedJob(standing, { jobId, ranMs, problem }, nowMs);
const flap = (standing: RunnerStanding, count: number, fromMs: number, everyMs = 1) => {
  let flapped = standing;
  for (let index = 0; index < count; index++) flapped = noteFlap(flapped, fromMs + index * everyMs);
  return flapped;
};
const untilOf = (standing: RunnerStanding) => standing.quarantine?.untilMs;

describe("a runner that loses its connection", () => {
  it("is locked out where that was often in a short time, and not where it was seldom", () => {
    const many = flap(GOOD_STANDING, LIMITS.flapDisconnects, 1_000);
    expect(quarantineAt(many, 1_010)?.reason).toMatch(/lost its connection 5 times within 60 s/);
    expect(quarantineAt(flap(GOOD_STANDING, LIMITS.flapDisconnects - 1, 0), 10)).toBeNull();
    const seldom = flap(GOOD_STANDING, 100, 0, LIMITS.flapWindowMs / (LIMITS.flapDisconnects - 1));
    expect(seldom.quarantine).toBeNull();
  });

  it("is locked out for longer each time that it goes on, and begins anew long after the last", () => {
    let standing = flap(GOOD_STANDING, LIMITS.flapDisconnects, 0);
    let endMs = untilOf(standing) ?? 0;
    for (const forMs of [SECOND_MS, THIRD_MS, THIRD_MS]) {
      standing = flap(standing, LIMITS.flapDisconnects, endMs);
      expect(untilOf(standing)).toBe(endMs + LIMITS.flapDisconnects - 1 + forMs);
      endMs = untilOf(standing) ?? 0;
    }
    const laterMs = endMs + LIMITS.quarantineForgottenMs + 1;
    standing = flap(standing, LIMITS.flapDisconnects, laterMs);
    expect(untilOf(standing)).toBe(laterMs + LIMITS.flapDisconnects - 1 + FIRST_MS);
  });

  it("all through its quarantine is locked out again by the first loss behind it", () => {
    const locked = flap(GOOD_STANDING, LIMITS.flapDisconnects, 0);
    const endMs = untilOf(locked) ?? 0;
    const still = flap(locked, 50, endMs - 50);
    expect(untilOf(still)).toBe(endMs);
    expect(untilOf(noteFlap(still, endMs))).toBe(endMs + SECOND_MS);
  });

  it("is not forgiven for a job that ended well", () => {
    const locked = flap(GOOD_STANDING, LIMITS.flapDisconnects, 0);
    expect(quarantineAt(noteSuccess(locked), 10)).not.toBeNull();
  });
});

describe("a runner on which jobs fail", () => {
  it("is locked out by different ones in a row, each soon after it began", () => {
    const [a, b] = ["job_a", "job_b"].map((id, at) => ({ id, at }));
    const two = fail(fail(GOOD_STANDING, a!.id, 0), b!.id, 1);
    expect(two.quarantine).toBeNull();
    expect(fail(two, "job_b", 2).quarantine).toBeNull();
    expect(fail(two, "job_c", 2, LIMITS.fastFailureMs + 1).quarantine).toBeNull();
    expect(fail(noteSuccess(two), "job_c", 2).quarantine).toBeNull();
    expect(quarantineAt(fail(two, "job_c", 2), 2)).toMatchObject({ untilMs: 2 + FIRST_MS });
  });

  it("is forgiven by one that ends well", () => {
    const locked = ["job_a", "job_b", "job_c"].reduce((standing, id) => fail(standing, id, 0), GOOD_STANDING);
    expect(noteSuccess(locked)).toEqual(GOOD_STANDING);
    expect(noteSuccess(GOOD_STANDING)).toBe(GOOD_STANDING);
  });
});

describe("the runner that a failed job counts against", () => {
  const ours = BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad" });
  const theirs = BenchmarkSpec.parse({ kind: "benchmark", kernel: createId("kernel") });
  const model = CalibrationSpec.parse({
    kind: "calibration",
    modelVersionId: createId("modelVersion"),
    runnerId: createId("runner"),
  });

  /** Whose part is too short for what it is to count: it fails on any runner. */
  const hurried = ValidationSpec.parse({
    kind: "validation",
    subject: { kind: "kernel", kernel: "triad" },
    scenarios: [{ kind: "singleStream", minDurationMs: 1_000, minQueries: 100_000 }],
    requirements: [],
    timeoutMs: 1_001,
  });

  it("is its runner only by a fault of that, and only where its sender brought nothing", () => {
    for (const code of Object.keys(PROBLEMS) as ProblemCode[]) {
      const told = createProblem(code, "sample");
      expect(blamesRunner(ours, told), code).toBe(["device-lost", "backend-failed", "kernel-incorrect"].includes(code));
      expect(blamesRunner(theirs, told) || blamesRunner(model, told), code).toBe(false);
      expect(blamesRunner(hurried, told), code).toBe(false);
    }
  });
});

it("keeps its promises under any sequence of events", () => {
  const step = fc.record({
    act: fc.constantFrom("flap", "fail", "succeed", "wait" as const),
    job: fc.nat(5),
    waitMs: fc.oneof(fc.nat(2_000), fc.nat(2 * LIMITS.quarantineForgottenMs)),
    ranMs: fc.nat(2 * LIMITS.fastFailureMs),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      let standing = GOOD_STANDING;
      let nowMs = 1_000_000;
      let faultsSinceChange = 0;
      for (const { act, job, waitMs, ranMs } of steps) {
        nowMs += act === "wait" ? waitMs : 1;
        const before = standing;
        const wasLocked = quarantineAt(before, nowMs) !== null;
        if (act === "flap") standing = noteFlap(before, nowMs);
        if (act === "fail") standing = fail(before, `job_${job}`, nowMs, ranMs);
        if (act === "succeed") standing = noteSuccess(before);
        if (act === "flap" || act === "fail") faultsSinceChange++;
        const now = quarantineAt(standing, nowMs);
        // A running quarantine is not changed by later events; only success may end it.
        if (wasLocked && act !== "succeed") expect(now).toEqual(quarantineAt(before, nowMs));
        // Only a fault locks out, by one of the lengths that there are, and never without as many as it takes.
        if (!wasLocked && now !== null) {
          expect(["flap", "fail"]).toContain(act);
          expect(LIMITS.quarantineMs).toContain(now.untilMs - nowMs);
          if (before.lockouts === 0)
            expect(faultsSinceChange).toBeGreaterThanOrEqual(Math.min(LIMITS.flapDisconnects, LIMITS.fastFailures));
        }
        // The stored state does not grow.
        expect(standing.lostAtMs.length).toBeLessThanOrEqual(LIMITS.flapDisconnects);
        expect(standing.failedJobIds.length).toBeLessThanOrEqual(LIMITS.fastFailures);
        expect(new Set(standing.failedJobIds).size).toBe(standing.failedJobIds.length);
      }
    }),
    { numRuns: 2_000 },
  );
});
