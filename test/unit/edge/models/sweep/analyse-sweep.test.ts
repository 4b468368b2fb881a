import { describe, expect, it } from "vitest";
import {
  analyseSweep,
  chooseMemoryBudget,
  countSafeRows,
  SAFE_MEMORY_SHARE,
} from "../../../../../src/edge/models/sweep/analyse-sweep.ts";
import { LIMITS } from "../../../../../src/protocol/wire/limits.ts";
import { summarise } from "../../../../../src/stats/distribution/distribution.ts";

/** Batches that saturate: 250, 400, 571, 727, 842, 914 rows a second, the p99 twice the median. */
const sweep = [1, 2, 4, 8, 16, 32].map((rows) => {
  const ms = 3 + rows;
  return { rows, serviceMs: summarise([...Array.from({ length: 98 }, () => ms), 2 * ms, 2 * ms]) };
});
const memory = { baseBytes: 1_000, bytesPerRow: 100 };
const asked = (budgetBytes: number) => ({ budgetBytes, of: "asked", share: null }) as const;

describe("a sweep", () => {
  it("computes rows a second from the median, and memory from the model", () => {
    const { steps } = analyseSweep(sweep, memory, { budget: null });
    expect(steps[1]).toEqual({ rows: 2, p50Ms: 5, p99Ms: 10, rowsPerS: 400, memoryBytes: 1_200 });
    expect(analyseSweep(sweep, null, { budget: null }).steps[1]?.memoryBytes).toBeNull();
  });

  it("recommends its knee", () => {
    const { knee, recommended, safe } = analyseSweep(sweep, null, { budget: asked(1) });
    expect(knee).toBe(8);
    expect(recommended).toMatchObject({ rows: 8, because: "knee" });
    expect(safe).toBeNull();
  });

  it("recommends what has the most rows a second within a bound of the p99", () => {
    const within = (latencyMs: number) => analyseSweep(sweep, null, { budget: null, latencyMs }).recommended;
    expect(within(38)).toMatchObject({ rows: 16, because: "latency" });
    expect(within(37.9)).toMatchObject({ rows: 8, because: "latency" });
    expect(within(7)).toMatchObject({ rows: null, because: "nothing-fits" });
  });

  it("recommends nothing that is not safe", () => {
    const { safe, recommended } = analyseSweep(sweep, memory, { budget: asked(1_500) });
    expect(safe).toEqual({ ...asked(1_500), rows: 5, measured: true });
    expect(recommended).toMatchObject({ rows: 4, because: "memory" });
    expect(analyseSweep(sweep, memory, { budget: asked(1_099) }).recommended).toMatchObject({ rows: null });
    expect(analyseSweep(sweep, memory, { budget: asked(1_500), latencyMs: 38 }).recommended.rows).toBe(4);
  });

  it("with ever rising throughput has no knee, and its fastest is recommended", () => {
    const straight = [1, 2, 4].map((rows) => ({ rows, serviceMs: summarise([5]) }));
    const { knee, recommended } = analyseSweep(straight, memory, { budget: asked(10_000) });
    expect(knee).toBeNull();
    expect(recommended).toMatchObject({ rows: 4, because: "largest" });
  });

  it("says where so many rows were never measured", () => {
    expect(analyseSweep(sweep, memory, { budget: asked(6_000) }).safe).toMatchObject({ rows: 50, measured: false });
  });
});

describe("the safe rows", () => {
  it("are those that the model says, to the byte", () => {
    expect(countSafeRows(memory, 1_099)).toBe(0);
    expect(countSafeRows(memory, 1_100)).toBe(1);
    expect(countSafeRows(memory, 1_299)).toBe(2);
  });

  it("are no more than a batch can have", () => {
    expect(countSafeRows({ baseBytes: 10, bytesPerRow: 0 }, 10)).toBe(LIMITS.batchRows);
    expect(countSafeRows(memory, 1e12)).toBe(LIMITS.batchRows);
  });
});

describe("the budget of memory", () => {
  it("is what was asked for, whole", () => {
    expect(chooseMemoryBudget(5, 100, 10)).toEqual({ budgetBytes: 5, of: "asked", share: null });
  });

  it("is else the safe share of the smaller memory that is known", () => {
    const share = SAFE_MEMORY_SHARE;
    expect(chooseMemoryBudget(undefined, 100, 10)).toEqual({ budgetBytes: 10 * share, of: "device", share });
    expect(chooseMemoryBudget(undefined, 100, null)).toEqual({ budgetBytes: 100 * share, of: "host", share });
    expect(chooseMemoryBudget(undefined, null, null)).toBeNull();
  });
});
