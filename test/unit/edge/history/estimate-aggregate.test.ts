import { describe, expect, it, onTestFinished, vi } from "vitest";
import { estimateAggregate, measureReport } from "../../../../src/edge/history/import/measure-report.ts";
import { threadShares } from "../../../../src/edge/turns.ts";
import { ReportInput } from "../../../../src/protocol/history/report.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { aggregateQuantile, summarise } from "../../../../src/stats/distribution/distribution.ts";
import { decodeSketch } from "../../../../src/stats/distribution/sketch.ts";
import { fc } from "../../property.ts";

describe("an estimated aggregate", () => {
  it("gives back the percentiles that were known", () => {
    const percentiles = { p25: 2, p50: 3, p75: 5, p99: 40, "p99.9": 80 };
    const aggregate = estimateAggregate({ count: 100_000, min: 1, max: 100, sum: 400_000, percentiles });
    expect(aggregate).toMatchObject({ count: 100_000, min: 1, max: 100, sum: 400_000 });
    for (const [name, value] of Object.entries(percentiles)) {
      expect(aggregateQuantile(aggregate, Number(name.slice(1)) / 100) / value).toBeCloseTo(1, 2);
    }
    expect(aggregateQuantile(aggregate, 0)).toBe(1);
    expect(aggregateQuantile(aggregate, 1) / 100).toBeCloseTo(1, 2);
  });

  it("has the mean for everything but the extremes where no percentile is known", () => {
    const aggregate = estimateAggregate({ count: 100, min: 1, max: 100, sum: 500 });
    for (const p of [0.05, 0.5, 0.95]) expect(aggregateQuantile(aggregate, p) / 5).toBeCloseTo(1, 2);
    expect(aggregateQuantile(aggregate, 0.999) / 100).toBeCloseTo(1, 2);
  });

  it("holds as many values as it counts, however few and whichever percentiles are known", () => {
    const ranks = fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 8 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), ranks, (count, known) => {
        const percentiles = Object.fromEntries(known.map((p) => [`p${p}`, 1 + p / 100]));
        const { sketch } = estimateAggregate({ count, min: 1, max: 2, sum: 1.5 * count, percentiles });
        expect(decodeSketch(sketch).count).toBe(count);
      }),
    );
  });
});

it("the most values of a report are added up while others work", async () => {
  const values = Array.from({ length: LIMITS.reportedSamples }, (_, index) => index % 100);
  const report = ReportInput.parse({ measurements: [{ subject: "s", metric: "wallMs", unit: "ms", values }] });
  // As for a second behind an inference, however long that is for this machine.
  const urgent = vi.spyOn(threadShares, "hadUrgent").mockReturnValue(true);
  onTestFinished(() => urgent.mockRestore());
  let others = 0;
  const timer = setInterval(() => others++, 0);
  const [measured] = await measureReport(report, { project: "main", runId: "run_1", atMs: 0 });
  clearInterval(timer);
  expect(others).toBeGreaterThanOrEqual(2);
  const { count, min, max, sum, sketch } = summarise(values);
  expect(measured?.aggregate).toEqual({ count, min, max, sum, sketch });
});
