import { describe, expect, it } from "vitest";
import { addColdStart, countRows, fitEdge } from "../../../src/edge/budget/fit-edge.ts";
import type { LivePlacement } from "../../../src/edge/store/placement-store.ts";
import { summarise } from "../../../src/stats/distribution.ts";

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

  it("is the only one that this is about", () => {
    const runner = at("ort-cpu");
    expect(fitEdge([runner], 33)).toEqual([runner]);
  });

  it("has the rows of the first axis where that is free", () => {
    const spec = (shape: number[]) => [{ name: "x", dtype: "float32" as const, shape }];
    expect(countRows(spec([-1, 4]), spec([5, 4]))).toBe(5);
    expect(countRows(spec([5, 4]), spec([5, 4]))).toBe(1);
    expect(countRows([], [])).toBe(1);
  });

  it("waits while it is loaded", () => {
    const prediction = { latencyMs: 3, linkMs: 1, queueMs: 0.5, serviceMs: 1.5 };
    expect(addColdStart(prediction, 0)).toBe(prediction);
    expect(addColdStart(prediction, 10)).toEqual({ latencyMs: 13, linkMs: 1, queueMs: 10.5, serviceMs: 1.5 });
  });
});
