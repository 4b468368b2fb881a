import { fc } from "../../property.ts";
import { describe, expect, it } from "vitest";
import {
  type Aggregate,
  aggregateQuantile,
  type Distribution,
  mergeAggregates,
  summarise,
} from "../../../../src/stats/distribution/distribution.ts";
import { RELATIVE_ERROR } from "../../../../src/stats/distribution/sketch.ts";

// Integers, so that sums are exact in any order.
const values = fc.array(fc.integer({ min: -1_000_000, max: 1_000_000 }), { minLength: 1, maxLength: 300 });
const toAggregate = ({ count, min, max, sum, sketch }: Distribution): Aggregate => ({ count, min, max, sum, sketch });

describe("a distribution", () => {
  it("is exact in count, extremes, sum, mean and percentiles", () => {
    fc.assert(
      fc.property(values, (samples) => {
        const found = summarise(samples);
        const sorted = samples.toSorted((a, b) => a - b);
        const at = (p: number) => sorted[Math.min(samples.length - 1, Math.floor(samples.length * p))];
        const sum = samples.reduce((total, sample) => total + sample, 0);
        expect(found).toMatchObject({
          count: samples.length,
          min: sorted[0],
          max: sorted.at(-1),
          sum,
          mean: sum / samples.length,
        });
        expect([found.p50, found.p90, found.p95, found.p99]).toEqual([at(0.5), at(0.9), at(0.95), at(0.99)]);
      }),
    );
  });

  it("has the known values of known samples", () => {
    const { mean, standardDeviation, p50, p99 } = summarise([2, 4, 4, 4, 5, 5, 7, 9]);
    expect({ mean, p50, p99 }).toEqual({ mean: 5, p50: 5, p99: 9 });
    expect(standardDeviation).toBeCloseTo(Math.sqrt(32 / 7), 12);
    expect(summarise([3])).toMatchObject({ count: 1, min: 3, max: 3, p50: 3, standardDeviation: 0 });
    expect(() => summarise([])).toThrow(RangeError);
    expect(() => summarise([Number.NaN])).toThrow(RangeError);
  });

  it("merges from any parts to what the whole would be", () => {
    fc.assert(
      fc.property(fc.array(values, { minLength: 1, maxLength: 6 }), fc.nat(), (parts, turn) => {
        const aggregates = parts.map((part) => toAggregate(summarise(part)));
        const rotated = [...aggregates.slice(turn % parts.length), ...aggregates.slice(0, turn % parts.length)];
        expect(mergeAggregates(rotated)).toEqual(toAggregate(summarise(parts.flat())));
      }),
    );
    expect(() => mergeAggregates([])).toThrow(RangeError);
  });

  it("merges by any tree to the same, the sum of any numbers up to rounding", () => {
    const numbers = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(fc.array(numbers, { minLength: 1, maxLength: 8 }), fc.infiniteStream(fc.nat()), (parts, stream) => {
        const trees = parts.map((part) => toAggregate(summarise(part)));
        const take = () => trees.splice(stream.next().value % trees.length, 1);
        while (trees.length > 1) trees.push(mergeAggregates([...take(), ...take()]));
        const { sum, ...exact } = toAggregate(summarise(parts.flat()));
        const magnitude = parts.flat().reduce((total, value) => total + Math.abs(value), 0);
        expect(trees[0]).toMatchObject(exact);
        expect(Math.abs((trees[0]?.sum ?? Number.NaN) - sum)).toBeLessThanOrEqual(1e-12 * magnitude);
      }),
    );
  });

  it("gives quantiles near the exact ones and inside of the extremes", () => {
    fc.assert(
      fc.property(values, fc.constantFrom("p50", "p90", "p95", "p99" as const), (samples, name) => {
        const whole = summarise(samples);
        const found = aggregateQuantile(whole, Number(name.slice(1)) / 100);
        const exact = whole[name as "p50"];
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(Math.abs(exact) * RELATIVE_ERROR * (1 + 1e-9));
        expect(found).toBeGreaterThanOrEqual(whole.min);
        expect(found).toBeLessThanOrEqual(whole.max);
      }),
    );
  });
});
