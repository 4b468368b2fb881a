import { describe, expect, it } from "vitest";
import { renderHistory } from "../../../src/cli/history/render-history.ts";
import type { HistoryQueryReply } from "../../../src/protocol/history/history-query.ts";

const point = (at: string, p50: number) => ({
  at: `2026-11-22T${at}:00.000Z`,
  count: 2,
  min: p50,
  max: p50,
  mean: p50,
  percentiles: { p50 },
  runId: null,
});
const group = (metric: string, points: ReturnType<typeof point>[]): HistoryQueryReply["groups"][number] => ({
  metric,
  unit: "ms",
  clock: "runner-wall",
  direction: "lower",
  software: false,
  group: {},
  device: null,
  series: [`ser_${metric}`],
  points,
});
const reply = (groups: HistoryQueryReply["groups"]): HistoryQueryReply => ({
  groups,
  from: "2026-11-22T00:00:00.000Z",
  to: "2026-11-22T14:00:00.000Z",
  resolution: "1h",
  step: "1h",
  truncated: false,
});

describe("a history", () => {
  it("of several series has a line each, in even steps from the first measurement on", () => {
    const text = renderHistory(
      reply([group("b", [point("10:00", 1), point("13:00", 8)]), group("a", [point("11:00", 5)])]),
      new Map(),
      undefined,
    );
    expect(text.split("\n")).toEqual([
      "series   p50 by 1h  last  samples",
      "ser_a a   ▅         5 ms  2",
      "ser_b b  ▁  █       8 ms  4",
      "2026-11-22T00:00:00.000Z to 2026-11-22T14:00:00.000Z",
      "",
    ]);
  });

  it("of one series is a table over time, and of none says so", () => {
    const text = renderHistory(reply([group("a", [point("11:00", 5), point("12:00", 7)])]), new Map(), undefined);
    expect(text).toContain("\n2026-11-22T11:00:00Z  2        5    5    –    –    5       5\n");
    expect(text).toMatch(/\n▁█\n$/);
    expect(renderHistory(reply([]), new Map(), undefined)).toMatch(/^Nothing was measured from 2026-11-22T00/);
  });
});
