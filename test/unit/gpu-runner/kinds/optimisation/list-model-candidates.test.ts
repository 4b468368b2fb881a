import { describe, expect, it } from "vitest";
import {
  findCandidate,
  listModelCandidates,
  listStanding,
} from "../../../../../src/gpu-runner/kinds/optimisation/list-model-candidates.ts";
import { LIMITS } from "../../../../../src/protocol/wire/limits.ts";

const CPU = { deviceKey: "cpu", backend: "ort-cpu" } as const;
const GPU = { deviceKey: "ort-gpu0", backend: "ort-webgpu" } as const;
const MACHINE = { devices: [CPU, GPU], variants: ["fp32", "int8"], logicalCores: 6, hasRows: true };

describe("the space of a model", () => {
  it("is device × backend × variant × threads × batch × concurrency, threads on the CPU provider alone", () => {
    const candidates = listModelCandidates({}, MACHINE);
    const threadsOf = (deviceKey: string) =>
      new Set(candidates.filter((each) => each.deviceKey === deviceKey).map(({ threads }) => threads));
    expect(threadsOf("cpu")).toEqual(new Set([1, 2, 4]));
    expect(threadsOf("ort-gpu0")).toEqual(new Set([1]));
    // Seven concurrencies, and of each the batches up to it.
    expect(candidates).toHaveLength((3 + 1) * 2 * 28);
    expect(candidates.every(({ maxRows, concurrency }) => maxRows <= concurrency)).toBe(true);
    expect(new Set(candidates.map((each) => JSON.stringify(each))).size).toBe(candidates.length);
  });

  it("has no more threads than a limit, and batches of one row where rows cannot be joined", () => {
    const many = listModelCandidates({}, { ...MACHINE, logicalCores: 512 });
    expect(Math.max(...many.map(({ threads }) => threads))).toBe(LIMITS.intraOpThreads);
    const alone = listModelCandidates({}, { ...MACHINE, hasRows: false });
    expect(new Set(alone.map(({ maxRows }) => maxRows))).toEqual(new Set([1]));
    expect(alone).toHaveLength((3 + 1) * 2 * 7);
  });

  it("is what is named of it; a batch that would never fill is the largest that may", () => {
    const space = {
      deviceKeys: ["cpu"],
      backends: ["ort-cpu" as const],
      variants: ["int8"],
      threads: [3],
      maxRows: [8, 16],
      concurrency: [4, 12],
    };
    const place = { ...CPU, variant: "int8", threads: 3 };
    expect(listModelCandidates(space, MACHINE)).toEqual([
      { ...place, maxRows: 4, concurrency: 4 },
      { ...place, maxRows: 8, concurrency: 12 },
      { ...place, maxRows: 12, concurrency: 12 },
    ]);
    expect(listModelCandidates({ backends: ["wgsl"] }, MACHINE)).toEqual([]);
  });
});

describe("what is served now", () => {
  const standing = {
    placementId: "plc_0",
    ...CPU,
    variant: "fp32",
    configuration: { threads: 1, maxRows: null, maxInFlight: null },
  };
  const candidates = listModelCandidates({}, MACHINE);

  it("stands under the load that flatters it most", () => {
    const best = listStanding(standing, { objective: "throughput", space: {} }, candidates, true);
    expect(best).toMatchObject({ threads: 1, maxRows: 64, concurrency: 64 });
    expect(findCandidate(candidates, best)).toBeGreaterThanOrEqual(0);
    const least = listStanding(standing, { objective: "latency", space: {} }, candidates, true);
    expect(least).toMatchObject({ threads: 1, maxRows: 1, concurrency: 1 });
  });

  it("keeps to its caps, and may lie outside of the space", () => {
    const configuration = { threads: 3, maxRows: 5, maxInFlight: 20 };
    const capped = listStanding(
      { ...standing, configuration },
      { objective: "throughput", space: {} },
      candidates,
      true,
    );
    expect(capped).toEqual({ ...CPU, variant: "fp32", threads: 3, maxRows: 5, concurrency: 20 });
    expect(findCandidate(candidates, capped)).toBe(-1);
  });
});
