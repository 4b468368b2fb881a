import { describe, expect, it } from "vitest";
import { isCalm, judgeOutcome } from "../../hostile/judge-outcome.ts";
import type { Outcome } from "../../hostile/play-attack.ts";
import { renderOutcomes } from "../../hostile/render-outcomes.ts";
import { type Ended, toFigures, type VictimFigures } from "../../hostile/victim/victim-figures.ts";

/** A victim with so many failed of a hundred inferences, and of six other requests. */
function victim(failed: number, others: number, answer = "503 overloaded"): VictimFigures {
  const ended = (count: number, lost: number): Ended[] =>
    Array.from({ length: count }, (_, index) => ({
      answer: index < lost ? answer : "200",
      isAsExpected: index >= lost,
      latencyMs: index,
      lagMs: 0,
    }));
  return { seconds: 2, inferences: toFigures(ended(100, failed)), others: toFigures(ended(6, others)), lagP99Ms: 1 };
}

const harmless: Outcome = {
  name: "sample",
  does: "nothing",
  before: victim(2, 0),
  during: victim(3, 0),
  answers: { "200": 5, "429 rate-limited": 9 },
  edge: { restBytes: 2 ** 20, peakBytes: 2 ** 21, deaths: 0 },
  trouble: [],
};

describe("an attack's outcome", () => {
  it("may hold refusals of the attacker, and a few failures more than without it", () => {
    expect(judgeOutcome(harmless)).toEqual([]);
    expect(renderOutcomes([harmless])).toContain("Nothing was found.");
  });

  it("must not hold more failures of the victim", () => {
    expect(judgeOutcome({ ...harmless, during: victim(4, 0) })).toEqual([
      "4 of 100 inferences of the victim failed, and 2 of 100 before",
    ]);
    expect(judgeOutcome({ ...harmless, during: victim(0, 1) })).toEqual([
      "1 of 6 others of the victim failed, and 0 of 6 before",
    ]);
  });

  it("is judged only where few of the victim's requests failed before it", () => {
    expect([victim(1, 0), victim(2, 0), victim(0, 1)].map(isCalm)).toEqual([true, false, false]);
  });

  it("must not hold an error of the edge, whoever got it, nor its end", () => {
    expect(judgeOutcome({ ...harmless, answers: { "500 internal": 2 } })).toEqual(["2 requests were answered 500"]);
    expect(judgeOutcome({ ...harmless, during: victim(1, 0, "jobs 500") })).toEqual(["1 requests were answered 500"]);
    const ended = { ...harmless, edge: { ...harmless.edge, deaths: 1 } };
    expect(judgeOutcome(ended)).toEqual(["the edge's process ended"]);
    expect(renderOutcomes([ended])).toContain("sample: the edge's process ended");
  });
});

it("sums up what was answered as expected, and counts everything", () => {
  const { inferences } = victim(2, 0);
  expect(inferences).toMatchObject({ sent: 100, failed: 2, byAnswer: { "503 overloaded": 2, "200": 98 }, p99Ms: 99 });
  expect(toFigures([])).toEqual({ sent: 0, failed: 0, byAnswer: {}, p50Ms: null, p99Ms: null });
});
