import { describe, expect, it } from "vitest";
import { EDGE_FAULTS, planFaults, RUNNER_FAULTS } from "../../chaos/faults/plan-faults.ts";

const options = { seed: 7, durationMs: 600_000, runners: 2, meanGapMs: 4_000, without: new Set<never>() };

describe("a plan of faults", () => {
  it("is the same for a seed, and another for another", () => {
    expect(planFaults(options)).toEqual(planFaults(options));
    expect(planFaults(options)).not.toEqual(planFaults({ ...options, seed: 8 }));
  });

  it("does every kind to every part, in order and within the time", () => {
    const plan = planFaults(options);
    for (const part of ["edge", 0, 1] as const) {
      const kinds = new Set(plan.filter((fault) => fault.part === part).map(({ kind }) => kind));
      expect([...kinds].toSorted()).toEqual([...(part === "edge" ? EDGE_FAULTS : RUNNER_FAULTS)].toSorted());
    }
    expect(plan.map(({ atMs }) => atMs)).toEqual(plan.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
    expect(Math.max(...plan.map(({ atMs, durationMs }) => atMs + durationMs))).toBeLessThanOrEqual(600_000);
  });

  it("does one thing at a time to a part", () => {
    const parts = Map.groupBy(planFaults(options), ({ part }) => part).values();
    const pauses = [...parts].flatMap((faults) =>
      faults.slice(1).map(({ atMs }, index) => atMs - faults[index]!.atMs - faults[index]!.durationMs),
    );
    expect(Math.min(...pauses)).toBeGreaterThan(0);
  });

  it("leaves out what cannot be done", () => {
    const plan = planFaults({ ...options, without: new Set(["disk-full"]) });
    expect(plan.filter(({ kind }) => kind === "disk-full")).toEqual([]);
  });
});
