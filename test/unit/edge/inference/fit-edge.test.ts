import { describe, expect, it } from "vitest";
import { addLoading, fitEdge } from "../../../../src/edge/inference/predict/predict-latency.ts";
import type { LivePlacement } from "../../../../src/edge/store/fleet/live-placement-store.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";

const sweep = [1, 8, 32].map((rows) => ({ rows, serviceMs: summarise([rows]) }));
const at = (backend: LivePlacement["backend"]) => ({ backend, sweep }) as unknown as LivePlacement;

describe("a placement at the edge", () => {
  it("is measured by the first step that holds all rows, and left out where none does", () => {
    const edge = at("edge-wasm");
    expect(fitEdge([edge], 1)).toEqual([edge]);
    expect(fitEdge([edge], 1)[0]).toBe(edge);
    const begins = [2, 8, 9, 32].map((rows) => fitEdge([edge], rows)[0]?.sweep[0]?.rows);
    expect(begins).toEqual([8, 8, 32, 32]);
    expect(fitEdge([edge], 33)).toEqual([]);
  });

  it("has the same sweep for each request, since what was worked out of it is kept by that", () => {
    const [first, second] = [at("edge-wasm"), at("edge-wasm")].map((edge) => fitEdge([edge], 5)[0]?.sweep);
    expect(first).toHaveLength(2);
    expect(second).toBe(first);
  });

  it("is the only one that this is about", () => {
    const runner = at("ort-cpu");
    expect(fitEdge([runner], 33)).toEqual([runner]);
  });

  it("waits while it is loaded", () => {
    const outlook = { linkMs: 1, serviceMs: 2, medianServiceMs: 1.5, queueMs: 0.5, coldMs: 0, isSilent: false };
    expect(addLoading(outlook, 10)).toEqual({ ...outlook, queueMs: 10.5 });
  });
});
