import { describe, expect, it } from "vitest";
import { choosePlacement } from "../../../src/edge/budget/choose-placement.ts";
import { noteOverhead, recentOverhead } from "../../../src/edge/budget/overhead-window.ts";
import { predictLatency } from "../../../src/edge/budget/predict-latency.ts";
import type { LivePlacement } from "../../../src/edge/store/placement-store.ts";
import { summarise } from "../../../src/stats/distribution.ts";

const placement = (id: string, changes: Partial<LivePlacement> = {}): LivePlacement => ({
  id,
  modelVersionId: "ver_x",
  runnerId: "rnr_x",
  deviceKey: "cpu",
  software: false,
  variant: "fp32",
  backend: "ort-cpu",
  state: "eligible",
  fidelity: 1,
  sweep: [{ rows: 1, serviceMs: summarise([1]) }],
  memory: null,
  loadMs: 1,
  linkMs: summarise([1]),
  updatedAt: "2026-11-21T00:00:00.000Z",
  fingerprint: { adapter: null, driver: null, dawn: null, toggles: [], ort: null, cpu: "sample" },
  online: true,
  draining: false,
  direct: false,
  ...changes,
});

const predictions: Record<string, number> = { fast: 2, slow: 8, exact: 6, gone: 1, leaving: 1 };
const predicted = (latencyMs: number) => ({ latencyMs, linkMs: 0, queueMs: 0, serviceMs: latencyMs });
const choose = (placements: LivePlacement[], budgetMs: number) =>
  choosePlacement(placements, budgetMs, ({ id }) => predicted(predictions[id] ?? Number.NaN));

describe("the choice of a placement", () => {
  const fast = placement("fast", { fidelity: 0.9 });
  const slow = placement("slow", { fidelity: 0.9 });
  const exact = placement("exact", { fidelity: 1 });
  const gone = placement("gone", { online: false });
  const leaving = placement("leaving", { draining: true });

  it("is the most faithful of those that fit, then the fastest", () => {
    expect(choose([slow, fast, exact], 10)).toMatchObject({
      kind: "admitted",
      candidate: { placement: { id: "exact" }, prediction: { latencyMs: 6 } },
    });
    expect(choose([slow, fast, exact], 5)).toMatchObject({
      kind: "admitted",
      candidate: { placement: { id: "fast" } },
    });
    expect(choose([slow, fast], 10)).toMatchObject({ kind: "admitted", candidate: { placement: { id: "fast" } } });
    expect(choose([fast], 2)).toMatchObject({ kind: "admitted" });
  });

  it("tells the nearest where none fits", () => {
    expect(choose([slow, exact], 5)).toMatchObject({
      kind: "unattainable",
      nearest: { placement: { id: "exact" }, prediction: { latencyMs: 6 } },
    });
    expect(choose([fast], -1)).toMatchObject({ kind: "unattainable" });
  });

  it("passes over runners that are offline or drain", () => {
    expect(choose([gone, leaving, slow], 10)).toMatchObject({
      kind: "admitted",
      candidate: { placement: { id: "slow" } },
    });
    expect(choose([gone, leaving], 10)).toEqual({ kind: "offline" });
    expect(choose([], 10)).toEqual({ kind: "none" });
  });
});

describe("the prediction", () => {
  const measured = { sweep: [{ rows: 1, serviceMs: summarise([1, 2, 3, 4]) }], linkMs: summarise([10]) };

  it("adds the service and what lies around it, at the confidence", () => {
    expect(predictLatency(measured, null, 0.99).latencyMs).toBeCloseTo(14, 0);
    expect(predictLatency(measured, null, 0.5).latencyMs).toBeCloseTo(13, 0);
    expect(predictLatency(measured, summarise([100]), 0.5).latencyMs).toBeCloseTo(103, 0);
  });

  it("never lies outside of what was measured", () => {
    expect(predictLatency(measured, null, 0.999).latencyMs).toBeLessThanOrEqual(14);
    expect(predictLatency(measured, null, 0.5).latencyMs).toBeGreaterThanOrEqual(11);
  });
});

describe("the window of overheads", () => {
  const note = (runnerId: string, count: number, atMs: number, valueMs = 1) => {
    for (let i = 0; i < count; i++) noteOverhead(runnerId, valueMs, atMs);
  };

  it("says nothing before enough was seen in slices that are over", () => {
    expect(recentOverhead("few")).toBeNull();
    note("few", 49, 0);
    note("few", 1, 5_000);
    expect(recentOverhead("few")).toBeNull();
    note("enough", 50, 0);
    expect(recentOverhead("enough")).toBeNull();
    note("enough", 1, 5_000, 9);
    expect(recentOverhead("enough")).toMatchObject({ count: 50, min: 1, max: 1 });
  });

  it("forgets what is older than a minute, and keeps runners apart", () => {
    note("old", 60, 0, 100);
    note("old", 60, 30_000, 1);
    note("old", 1, 61_000, 5);
    expect(recentOverhead("old")).toMatchObject({ count: 60, max: 1 });
    expect(recentOverhead("other")).toBeNull();
  });

  it("keeps a bounded number of samples a slice", () => {
    note("busy", 5_000, 0);
    note("busy", 1, 5_000);
    expect(recentOverhead("busy")?.count).toBe(2_000);
  });
});
