import { expect, it } from "vitest";
import { findShifts } from "../../../../src/edge/history/detect/find-shifts.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";

/** A ramp that begins again every hundred points: drifts that the next step ends. */
const saw = Array.from({ length: 2_000 }, (_, place) => 10 + (place % 100) / 100);

it("every shift has levels on both sides, also where a drift is complete with the step that follows it", () => {
  const points = saw.map((value, place) => ({
    ...summarise([value]),
    atMs: 60_000 * place,
    runId: null,
    revision: null,
  }));
  for (const count of [500, 1_000, 1_500, 1_999, 2_000]) {
    const shifts = findShifts(points.slice(-count), { direction: "lower", statistic: "p50", parameters: {} });
    expect(shifts.length).toBeGreaterThan(0);
    expect(shifts.map(({ evidence }) => Number.isFinite(evidence.from) && Number.isFinite(evidence.to))).not.toContain(
      false,
    );
  }
});
