import { describe, expect, it } from "vitest";
import { describeMiss, describeSettings, listTargets } from "../../../src/words/validation.ts";
import { infeasibleResult, optimisationResult } from "../../edge/stack/validation-samples.ts";

describe("a miss", () => {
  it("says what was wanted, what was found and how far that is off", () => {
    const told = (
      target: "latencyMs" | "throughputPerS" | "memoryBytes" | "minFidelity",
      wanted: number,
      found: number,
    ) => describeMiss({ target, wanted, found, factor: 2 }, { percentile: 0.99 });
    expect(told("latencyMs", 0.5, 1)).toBe("p99 latency 1 ms where 0.5 ms is wanted, 2 times too slow");
    expect(told("throughputPerS", 2_000, 1_000)).toBe("throughput 1,000/s where 2,000/s is wanted, 2 times too little");
    expect(told("memoryBytes", 2 ** 20, 2 ** 21)).toBe("memory 2 MiB where 1 MiB is wanted, 2 times too much");
    expect(told("minFidelity", 0.98, 0.49)).toBe("fidelity 49% where 98% is wanted, 2 times too little");
  });
});

describe("a candidate", () => {
  it("is named by its settings, and of a kernel by its axes", () => {
    const { candidate } = optimisationResult().trials[2]!;
    expect(describeSettings(candidate)).toBe("1 thread, batches of 8, 16 in flight");
    expect(describeSettings({ ...candidate, threads: 2, axes: { lanes: 64 } })).toBe(
      "2 threads, batches of 8, 16 in flight, lanes 64",
    );
  });
});

describe("the targets", () => {
  it("are those that were set, met or missed as the trial says", () => {
    const { targets, trials } = infeasibleResult();
    expect(listTargets(targets, trials[1]!)).toEqual([
      { target: "latencyMs", wanted: 0.5, found: 4.2, met: false },
      { target: "throughputPerS", wanted: 1_000, found: 1_450, met: true },
    ]);
    expect(listTargets({ percentile: 0.99, minFidelity: 0.9 }, trials[1]!)).toEqual([
      { target: "minFidelity", wanted: 0.9, found: 1, met: true },
    ]);
  });

  it("are not met by a trial that failed", () => {
    const { targets, trials } = optimisationResult();
    expect(listTargets(targets, trials.at(-1)!).some(({ met }) => met)).toBe(false);
  });
});
