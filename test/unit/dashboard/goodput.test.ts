import { describe, expect, it } from "vitest";
import { sumGoodput } from "../../../src/dashboard/overview/goodput.ts";
import type { HistoryQueryReply } from "../../../src/protocol/history/history-query.ts";

const START_MS = Date.parse("2026-11-22T12:00:00.000Z");
const minute = (index: number) => new Date(START_MS + index * 60_000).toISOString();

const group = (metric: string, counts: Readonly<Record<number, number>>): HistoryQueryReply["groups"][number] => ({
  group: { metric },
  device: null,
  series: [],
  metric,
  unit: "requests",
  clock: null,
  direction: "lower",
  software: false,
  points: Object.entries(counts).map(([index, count]) => ({
    at: minute(Number(index)),
    count,
    min: 1,
    max: 1,
    mean: 1,
    percentiles: {},
    runId: null,
  })),
});

const none = { predictions: { items: [] }, answers: { groups: [] }, refusals: { groups: [] } };

describe("goodput", () => {
  it("has every minute of the span, without requests, too", () => {
    const { minutes, answered, missed } = sumGoodput(none, START_MS, START_MS + 2.5 * 60_000);
    expect(minutes.map(({ atMs }) => atMs)).toEqual([0, 1, 2].map((index) => START_MS + index * 60_000));
    expect([answered, missed]).toEqual([0, []]);
  });

  it("adds up what is counted apart, such as on software devices, and leaves out what is beyond the span", () => {
    const answers = { groups: [group("rows", { 0: 5, 1: 7, 9: 100 }), group("rows", { 1: 3 })] };
    const { minutes, answered } = sumGoodput({ ...none, answers }, START_MS, START_MS + 120_000);
    expect(minutes.map((each) => each.answered)).toEqual([5, 10]);
    expect(answered).toBe(15);
  });

  it("counts misses by reason, the most frequent first, and nothing that is no refusal", () => {
    const refusals = {
      groups: [
        group("refused.overloaded", { 0: 2 }),
        group("refused.budget-exceeded", { 0: 1, 1: 4 }),
        group("retries", { 0: 50 }),
      ],
    };
    const { minutes, missed } = sumGoodput({ ...none, refusals }, START_MS, START_MS + 120_000);
    expect(missed).toEqual([
      { reason: "budget-exceeded", count: 5 },
      { reason: "overloaded", count: 2 },
    ]);
    expect(minutes.map((each) => each.missed)).toEqual([
      { overloaded: 2, "budget-exceeded": 1 },
      { "budget-exceeded": 4 },
    ]);
  });
});
