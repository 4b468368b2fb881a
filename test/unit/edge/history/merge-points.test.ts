import { describe, expect, it } from "vitest";
import { mergePoints, parseStepMs, type Part } from "../../../../src/edge/history/query/merge-parts.ts";
import { Step } from "../../../../src/protocol/history/history.ts";
import { aggregateQuantile, mergeAggregates, summarise } from "../../../../src/stats/distribution/distribution.ts";
import { fc } from "../../property.ts";

const stored = fc
  .array(
    fc.record({
      atMs: fc.nat(100_000),
      runId: fc.constantFrom(null, "run_a", "run_b"),
      values: fc.array(fc.integer({ min: -999, max: 999 }), { minLength: 1, maxLength: 9 }),
    }),
    { maxLength: 30 },
  )
  .map((points): Part[] =>
    points
      .toSorted((a, b) => a.atMs - b.atMs)
      .map(({ atMs, runId, values }) => {
        const { count, min, max, sum, sketch } = summarise(values);
        return { atMs, runId, count, min, max, sum, sketch };
      }),
  );

describe("points of a series", () => {
  it("merged by step are the aggregates of their steps, in order", async () => {
    await fc.assert(
      fc.asyncProperty(stored, fc.integer({ min: 1, max: 50_000 }), async (points, stepMs) => {
        const byStep = Map.groupBy(points, ({ atMs }) => Math.floor(atMs / stepMs) * stepMs);
        const expected = [...byStep].map(([startMs, members]) => {
          const aggregate = mergeAggregates(members);
          const runIds = new Set(members.map(({ runId }) => runId));
          return {
            at: new Date(startMs).toISOString(),
            count: aggregate.count,
            min: aggregate.min,
            max: aggregate.max,
            mean: aggregate.sum / aggregate.count,
            percentiles: { p50: aggregateQuantile(aggregate, 0.5) },
            sketch: aggregate.sketch,
            runId: runIds.size === 1 ? members[0]?.runId : null,
          };
        });
        expect(await mergePoints(points, stepMs, { percentiles: [50], sketches: true })).toEqual(expected);
      }),
    );
  });

  it("without a step stay apart, even in the same moment", async () => {
    await fc.assert(
      fc.asyncProperty(stored, async (points) => {
        const merged = await mergePoints(points, null, { percentiles: [], sketches: false });
        expect(merged.map(({ at, count, runId }) => ({ at, count, runId }))).toEqual(
          points.map(({ atMs, count, runId }) => ({ at: new Date(atMs).toISOString(), count, runId })),
        );
      }),
    );
  });

  it("have steps of seconds, minutes, hours and days", () => {
    expect(["1s", "5m", "6h", "2d"].map(parseStepMs)).toEqual([1_000, 300_000, 21_600_000, 172_800_000]);
    for (const step of ["0m", "1", "m", "1w", "-1m", "1.5h", "123456s"])
      expect(Step.safeParse(step).success).toBe(false);
  });
});
