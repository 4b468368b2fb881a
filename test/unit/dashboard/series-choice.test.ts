import { expect, it } from "vitest";
import { chooseSeries } from "../../../src/dashboard/plots/series/choose-series.ts";
import { type SeriesHistory, trimAround } from "../../../src/dashboard/plots/series/series-history.ts";
import type { Series } from "../../../src/protocol/history/series.ts";
import { aChange, instant } from "../words/sample-change.ts";

function aSeries(id: string, subject: string, metric: string, lastS: number): Series {
  return { id, subjectKind: "kernel", subject, metric, lastPointAt: instant(lastS) } as Series;
}

const series = [aSeries("a", "gemm", "wallMs", 3), aSeries("b", "gemm", "gpuMs", 2), aSeries("c", "triad", "gpuMs", 1)];

it("chooses the series that an address names by its id alone, with its subject and metric", () => {
  const { chosen, metrics } = chooseSeries(series, { id: "b" });
  expect(chosen?.id).toBe("b");
  expect(metrics).toEqual(["gpuMs", "wallMs"]);
  expect(chooseSeries(series, { id: "c" }).variants.map(({ id }) => id)).toEqual(["c"]);
});

it("chooses the freshest subject where the id is none of them, and what is picked wins over the id", () => {
  expect(chooseSeries(series, { id: "gone" }).chosen?.subject).toBe("gemm");
  expect(chooseSeries(series, { id: "a", subject: "kernel triad" }).chosen?.id).toBe("c");
});

it("keeps forty points on either side of a change", () => {
  const points = Array.from({ length: 200 }, (_, at) => ({ at: instant(at) }));
  const happened = { changes: [aChange(100), aChange(10)], spikes: [], hardware: [] };
  const history = { points, happened, hardwareChanges: [], truncated: true } as unknown as SeriesHistory;
  const trimmed = trimAround(history, { at: instant(100), completeAt: instant(110) });
  expect([trimmed.points[0]?.at, trimmed.points.at(-1)?.at]).toEqual([instant(60), instant(149)]);
  expect(trimmed.happened.changes.map(({ at }) => at)).toEqual([instant(100)]);
});
