import { expect, it } from "vitest";
import { overlapMs } from "../../../../bench/hop/overlap-ms.ts";

const span = (fromMs: number, toMs: number) => ({ fromMs, toMs });

it.each([
  ["nothing of none", [], 0],
  ["nothing of what ended before or began behind", [span(0, 10), span(20, 30)], 0],
  ["what lies within", [span(12, 13), span(15, 17)], 3],
  ["what of a longer one lies within", [span(5, 12), span(19, 25)], 3],
  ["all where one holds it", [span(5, 25)], 10],
  ["once what two heaps share", [span(11, 15), span(13, 17)], 6],
  ["once what lies within another", [span(11, 17), span(12, 13), span(16, 18)], 7],
])("counts %s", (_, pauses, wantedMs) => {
  expect(overlapMs(span(10, 20), pauses)).toBe(wantedMs);
});
