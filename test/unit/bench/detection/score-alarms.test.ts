import { describe, expect, it } from "vitest";
import { addScores, f1, precision, recall, scoreAlarms } from "../../../../bench/detection/score-alarms.ts";

const STEP = { index: 50, lastIndex: 50 };
const at = (index: number, seenPoints = index + 1) => ({ index, seenPoints });

describe("the scoring of alarms", () => {
  it("finds a change within three points, and no further", () => {
    for (const near of [47, 50, 53]) {
      expect(scoreAlarms([at(near, 60)], [STEP], 100)).toMatchObject({
        found: 1,
        alarms: 1,
        falseAlarms: 0,
        delays: [10],
      });
    }
    for (const far of [46, 54]) {
      expect(scoreAlarms([at(far)], [STEP], 100)).toMatchObject({ found: 0, alarms: 1, falseAlarms: 1, delays: [] });
    }
  });

  it("counts reports of one place once, and a delay to the first that is near", () => {
    const reports = [at(54, 56), at(52, 57), at(50, 58), at(80, 85), at(81, 86)];
    expect(scoreAlarms(reports, [STEP], 100)).toEqual({
      known: 1,
      found: 1,
      alarms: 2,
      falseAlarms: 1,
      points: 100,
      delays: [7],
    });
  });

  it("takes a row of alerts behind a step for that step's", () => {
    const alerts = [50, 51, 52, 53, 54, 55, 56, 57].map((index) => at(index));
    expect(scoreAlarms(alerts, [STEP], 100)).toMatchObject({ found: 1, alarms: 1, falseAlarms: 0, delays: [1] });
  });

  it("counts nothing twice that lies along a drift", () => {
    const drift = { index: 50, lastIndex: 90 };
    const score = scoreAlarms([at(60, 70), at(80, 90), at(96)], [drift], 100);
    expect(score).toMatchObject({ known: 1, found: 1, alarms: 3, falseAlarms: 1, delays: [20] });
  });

  it("adds up to precision, recall and F1", () => {
    const total = addScores([
      scoreAlarms([at(50), at(20)], [STEP], 100),
      scoreAlarms([], [STEP], 100),
      scoreAlarms([at(51)], [STEP, { index: 80, lastIndex: 80 }], 100),
    ]);
    expect(total).toMatchObject({ known: 4, found: 2, alarms: 3, falseAlarms: 1, points: 300 });
    expect(precision(total)).toBeCloseTo(2 / 3);
    expect(recall(total)).toBe(0.5);
    expect(f1(total)).toBeCloseTo((2 * 2) / (2 * 2 + 1 + 2));
    expect(precision(scoreAlarms([], [STEP], 100))).toBe(1);
  });
});
