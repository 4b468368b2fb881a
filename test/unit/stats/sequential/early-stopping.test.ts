import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  estimatePercentile,
  leastQueries,
  leastUnderLatency,
  mostOverLatency,
  queriesToTell,
} from "../../../../src/stats/sequential/early-stopping.ts";
import { nearestRank } from "../../../../src/stats/distribution/summary.ts";
import { percentileInterval } from "../../../../src/stats/distribution/intervals.ts";
import { fc } from "../../property.ts";
import { recordLatencies, RECORDINGS } from "../distribution/recorded-latencies.ts";

// See make_vectors.py: by the definition, in exact decimals.
const vectors = JSON.parse(readFileSync(new URL("early-stopping/vectors.json", import.meta.url), "utf8")) as Record<
  string,
  number[]
>;

describe("early stopping", () => {
  it.each(Object.entries(vectors))("needs what the definition needs at p = %s for t up to 100", (p, least) => {
    expect(least).toHaveLength(101);
    expect(least.map((_, overLatency) => leastUnderLatency(Number(p), overLatency))).toEqual(least);
  });

  // The reference table, computed with MLPerf's own code.
  it.each([
    [0.9, [44, 64, 81, 97]],
    [0.99, [459, 662, 838, 1001]],
  ])("needs as many queries as MLPerf's load generator at p = %d", (p, needs) => {
    expect(needs.map((_, overLatency) => leastQueries(p, overLatency))).toEqual(needs);
  });

  it("allows the most queries over latency whose need is met", () => {
    fc.assert(
      fc.property(fc.constantFrom(0.5, 0.9, 0.97, 0.99, 0.999), fc.integer({ min: 1, max: 20_000 }), (p, queries) => {
        const most = mostOverLatency(p, queries);
        expect(leastQueries(p, most + 1)).toBeGreaterThan(queries);
        if (most >= 0) expect(leastQueries(p, most)).toBeLessThanOrEqual(queries);
      }),
    );
  });

  it("holds exactly where the upper bound of the percentile does", () => {
    fc.assert(
      fc.property(fc.constantFrom(0.5, 0.9, 0.99), fc.integer({ min: 1, max: 5_000 }), (p, queries) => {
        const most = mostOverLatency(p, queries);
        expect(percentileInterval(p, queries, 0.99).high).toBe(most < 0 ? null : queries - 1 - most);
      }),
    );
  });

  it("says how many queries would tell", () => {
    expect(queriesToTell(0.99, 0, 1e6)).toBe(459);
    expect(queriesToTell(0.9, 0, 1e6)).toBe(44);
    // Two in a thousand over: 838 with two of them would hold, 662 with one are below that share.
    expect(queriesToTell(0.99, 0.002, 1e6)).toBe(838);
    // Far over: two queries in a row that were over decide it with 0.99.
    expect(queriesToTell(0.99, 1, 1e6)).toBe(2);
    expect(queriesToTell(0.99, 0.01, 1e6)).toBe(Number.POSITIVE_INFINITY);
    expect(queriesToTell(0.99, 0.009, 10_000)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("the scorer, given recorded latencies", () => {
  const cases = RECORDINGS.flatMap((recording) => [0.9, 0.99, 0.999].map((p) => ({ ...recording, p })));

  it.each(cases)("gives MLPerf's estimate of $kind × $count at p = $p", ({ kind, count, p }) => {
    const sorted = recordLatencies(kind, count).toSorted();
    expect(estimatePercentile(sorted, p)).toBe(estimateAsMlperf(sorted, p));
    expect(nearestRank(sorted, p)).toBe(sorted[Math.trunc(count * p)]);
  });

  it("covers recordings that are too few, just enough and plenty", () => {
    const estimates = cases.map(({ kind, count, p }) => estimateAsMlperf(recordLatencies(kind, count).toSorted(), p));
    expect(estimates.filter((estimate) => estimate === null).length).toBeGreaterThan(5);
    expect(estimates.filter((estimate) => estimate !== null).length).toBeGreaterThan(20);
  });
});

/**
 * MLPerf's rule, naively and by the vectors alone: t grows from 1 as long as its required queries are available, and
 * the estimate is the t-th highest latency.
 */
function estimateAsMlperf(sorted: Float64Array, p: number): number | null {
  const least = vectors[String(p)]!;
  if (sorted.length < least[1]! + 1) return null;
  let overLatency = 1;
  while (sorted.length >= least[overLatency + 1]! + overLatency + 1) overLatency++;
  return sorted[sorted.length - overLatency]!;
}
