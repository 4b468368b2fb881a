import { describe, expect, it } from "vitest";
import { toMarks } from "../../../src/dashboard/plots/plot-marks.ts";
import { aChange, instant } from "../words/sample-change.ts";

const WHOLE = [0, 100] as const;

describe("the marks of a plot", () => {
  it("draw the level before a step up to it, and the level after it to the end", () => {
    const { levels, changes } = toMarks({ changes: [aChange(40)], spikes: [] }, [], WHOLE);
    expect(levels).toEqual([
      { kind: "before", tone: "worse", fromS: 0, toS: 40, from: 10, to: 10 },
      { kind: "after", tone: "worse", fromS: 40, toS: 100, from: 11, to: 11 },
    ]);
    expect(changes).toEqual([{ atS: 40, tone: "worse", isUp: true, text: "worse +10%" }]);
  });

  it("end a level where the next change begins, and slope where a drift took time", () => {
    const drift = aChange(20, { kind: "drift", completeAt: instant(30) });
    const back = aChange(60, { direction: "improvement", from: 11, to: 10, relativeChange: -0.09 });
    const { levels, changes } = toMarks({ changes: [drift, back], spikes: [] }, [], WHOLE);
    expect(levels.map(({ fromS, toS, from, to }) => [fromS, toS, from, to])).toEqual([
      [0, 20, 10, 10],
      [20, 30, 10, 11],
      [30, 59, 11, 11],
      [30, 60, 11, 11],
      [60, 100, 10, 10],
    ]);
    expect(changes[1]).toEqual({ atS: 60, tone: "better", isUp: false, text: "better −9%" });
  });

  it("end a level where the series came back to the old one", () => {
    const { levels } = toMarks({ changes: [aChange(40, { returnedAt: instant(70) })], spikes: [] }, [], WHOLE);
    expect(levels[1]?.toS).toBe(70);
  });

  it("have no levels for a broken limit, and leave out what lies elsewhere", () => {
    const changes = [aChange(40, { kind: "threshold" }), aChange(200)];
    const spikes = [10, 300].map((at) => ({ at: instant(at), value: 20, runId: null }));
    const hardware = [50, -5].map((at) => ({
      at: instant(at),
      otherId: "ser_2",
      isBefore: true,
      text: "driver 1 to 2",
    }));
    const marks = toMarks({ changes, spikes }, hardware, WHOLE);
    expect(marks.levels).toEqual([]);
    expect(marks.changes).toHaveLength(1);
    expect(marks.spikes).toEqual([{ atS: 10, value: 20 }]);
    expect(marks.hardware).toEqual([{ atS: 50, text: "driver 1 to 2" }]);
  });
});
