import { expect, it } from "vitest";
import { isSoundReport } from "../../../../../src/edge/history/soundness.ts";
import { LIMITS } from "../../../../../src/protocol/wire/limits.ts";
import { summarise } from "../../../../../src/stats/distribution/distribution.ts";
import { device, placement, report, sensor } from "../../../../edge/stack/health-samples.ts";

const times = summarise([1, 2, 3]);

it("takes a report of as many placements as may be watched, and no larger one", () => {
  const placements = Array.from({ length: LIMITS.watchedPlacements }, () => placement([5, 5.1, 4.9, 5.2, 5]));
  expect(isSoundReport(report(0, { placements }))).toBe(true);
  expect(isSoundReport(report(0, { sensors: [sensor({ source: "x".repeat(LIMITS.healthReportBytes) })] }))).toBe(false);
});

it.each([
  ["of a queue", { devices: [device({ queueMs: { ...times, count: 4 } })] }],
  ["of nothing", { devices: [device({ queueMs: { ...times, count: 0, sketch: summarise([1]).sketch } })] }],
  ["of probes", { placements: [{ ...placement([5]), serviceMs: { ...times, sketch: "no sketch" } }] }],
  ["of computing", { placements: [{ ...placement([5]), computeMs: { ...times, min: 9 } }] }],
])("refuses a distribution %s that cannot be merged", (_, told) => {
  expect(isSoundReport(report(0, told))).toBe(false);
});
