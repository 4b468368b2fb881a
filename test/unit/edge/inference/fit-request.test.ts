import { describe, expect, it } from "vitest";
import { fitRequest } from "../../../../src/edge/inference/predict/fit-request.ts";
import { addLoading } from "../../../../src/edge/inference/predict/predict-latency.ts";
import type { LivePlacement } from "../../../../src/edge/store/fleet/live-placement-store.ts";
import { livePlacement } from "./live-placement.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";

const sweep = [1, 8, 32].map((rows) => ({ rows, serviceMs: summarise([rows]) }));
const at = (backend: LivePlacement["backend"]) => livePlacement("a", { backend, sweep, measuredElements: 4 });
const fitRows = (placement: LivePlacement, rows: number) => fitRequest([placement], { rows, elements: 4 });

describe("a placement at the edge", () => {
  it("is measured by the first step that holds all rows, and left out where none does", () => {
    const edge = at("edge-wasm");
    expect(fitRows(edge, 1)[0]).toBe(edge);
    const begins = [2, 8, 9, 32].map((rows) => fitRows(edge, rows)[0]?.sweep[0]?.rows);
    expect(begins).toEqual([8, 8, 32, 32]);
    expect(fitRows(edge, 33)).toEqual([]);
  });

  it("has the same sweep for each request, since what was worked out of it is kept by that", () => {
    const [first, second] = [at("edge-wasm"), at("edge-wasm")].map((edge) => fitRows(edge, 5)[0]?.sweep);
    expect(first).toHaveLength(2);
    expect(second).toBe(first);
  });

  it("is the only one that this is about", () => {
    const runner = at("ort-cpu");
    expect(fitRows(runner, 33)).toEqual([runner]);
  });

  it("waits while it is loaded", () => {
    const outlook = {
      linkMs: 1,
      serviceMs: 2,
      aloneMs: 2,
      medianServiceMs: 1.5,
      queueMs: 0.5,
      excessMs: 0,
      coldMs: 0,
      silentMs: 0,
    };
    expect(addLoading(outlook, 10)).toEqual({ ...outlook, queueMs: 10.5 });
  });
});

describe("a request of another size than was measured", () => {
  const times = (ms: number) => [{ rows: 1, serviceMs: summarise([ms, ms, ms]) }];
  const medianAt = (placement: LivePlacement, elements: number) =>
    fitRequest([placement], { rows: 1, elements })[0]?.sweep[0]?.serviceMs.p50;
  const one = livePlacement("one", { sweep: times(10), measuredElements: 100 });
  /** Four times the elements take eight times as long: an exponent of 1.5. */
  const two = { ...one, sweep: times(10), sizes: [{ elements: 400, sweep: times(80) }] };

  it("has the measured times at the measured sizes, and of the same placement at the first", () => {
    expect(fitRequest([two], { rows: 1, elements: 100 })[0]).toBe(two);
    expect(medianAt(two, 400)).toBeCloseTo(80);
  });

  it("follows the growth between two measured sizes, and beyond them", () => {
    expect(medianAt(two, 200)).toBeCloseTo(10 * 2 ** 1.5);
    expect(medianAt(two, 50)).toBeCloseTo(10 / 2 ** 1.5);
    expect(medianAt(two, 1_600)).toBeCloseTo(80 * 4 ** 1.5);
  });

  it("is in proportion beyond one measured size, and no faster below it", () => {
    expect(medianAt(one, 400)).toBeCloseTo(40);
    expect(medianAt(one, 25)).toBeCloseTo(10);
  });

  it("grows in proportion at least beyond sizes that took the same time", () => {
    const flat = { ...one, sweep: times(10), sizes: [{ elements: 400, sweep: times(9) }] };
    expect(medianAt(flat, 250)).toBeCloseTo(9);
    expect(medianAt(flat, 800)).toBeCloseTo(18);
  });

  it("has one sweep for all requests of nearly the same size, whose recent times are apart from others'", () => {
    const [small, same, large] = [198, 202, 1_600].map((elements) => fitRequest([two], { rows: 1, elements })[0]);
    expect(small?.sweep).toBe(same?.sweep);
    expect([small?.size, same?.size, large?.size]).toEqual([4, 4, 16]);
    // Probes have inputs of the measured size.
    expect(large?.measured).toBe(two);
  });
});
