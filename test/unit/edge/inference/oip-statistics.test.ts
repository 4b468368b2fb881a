import { describe, expect, it } from "vitest";
import { addUpTotals, linksOf } from "../../../../src/edge/routes/inference/oip-statistics.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";

const runners = (count: number) => Array.from({ length: count }, (_, index) => ({ runnerId: `rnr_${index}` }));

describe("the links that are asked for statistics", () => {
  it("are each runner's once, and no more than a limit", () => {
    const placements = new Map([
      ["one", runners(2)],
      ["two", runners(3)],
      ["many", runners(LIMITS.oipStatisticsLinks + 1)],
    ]);
    expect(linksOf({ placements }, [{ id: "one" }, { id: "two" }, { id: "absent" }])).toEqual([
      "rnr_0",
      "rnr_1",
      "rnr_2",
    ]);
    expect(linksOf({ placements }, [{ id: "many" }])).toHaveLength(LIMITS.oipStatisticsLinks);
  });
});

describe("totals as statistics", () => {
  it("count each answer once in every part, also where none was measured", () => {
    const total = (metric: string, count: number, sum: number) => ({ subject: "m@1", metric, count, sum });
    const totals = [
      total("rows", 3, 7),
      total("executions", 3, 1.9999999),
      total("totalMs", 4, 10),
      total("lostMs", 1, 4),
      total("queueMs", 1, 0.5),
      total("refused.overloaded", 2, 2),
    ];
    const nothing = { count: 3, ns: 0 };
    expect(addUpTotals(totals)).toEqual({
      inference_count: 7,
      execution_count: 2,
      inference_stats: {
        success: { count: 3, ns: 6e6 },
        fail: { count: 2, ns: 4e6 },
        queue: { count: 3, ns: 5e5 },
        compute_input: nothing,
        compute_infer: nothing,
        compute_output: nothing,
        cache_hit: { count: 0, ns: 0 },
        cache_miss: { count: 0, ns: 0 },
      },
    });
  });
});
