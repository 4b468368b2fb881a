import { expect, it } from "vitest";
import { measureOutcomes, type RequestOutcome } from "../../../../src/edge/history/request-measurements.ts";
import { livePlacement } from "../inference/live-placement.ts";

const outcome = (batch: number): RequestOutcome => {
  const { variant, backend, software, fingerprint } = livePlacement("a");
  return {
    project: "main",
    subject: "mine@1",
    variant,
    backend,
    batch,
    software,
    fingerprint,
    rows: null,
    totalMs: 1,
    split: null,
    forecast: null,
  };
};

it("keeps few series, whatever rows callers choose", () => {
  const batches = [1, 2, 3, 4, 7, 255, 256, 257, 1_000_000];
  const measured = measureOutcomes(batches.map(outcome)).filter(({ key }) => key.metric === "totalMs");
  expect(measured.map(({ key, aggregate }) => [key.configuration["batch"], aggregate.count])).toEqual([
    [1, 1],
    [2, 2],
    [4, 2],
    [128, 1],
    [256, 3],
  ]);
});

it("keeps the requests of two projects apart, whose models have the same name", () => {
  const measured = measureOutcomes([outcome(1), { ...outcome(1), project: "other" }, outcome(1)]);
  const totals = measured.filter(({ key }) => key.metric === "totalMs");
  expect(totals.map(({ project, aggregate }) => [project, aggregate.count])).toEqual([
    ["main", 2],
    ["other", 1],
  ]);
});

it("keeps what several threads took apart from what one did", () => {
  const served = [undefined, 1, 4].map((threads) => ({
    ...outcome(1),
    ...(threads !== undefined && { configuration: { threads } }),
  }));
  const measured = measureOutcomes(served).filter(({ key }) => key.metric === "totalMs");
  expect(measured.map(({ key, aggregate }) => [key.configuration["threads"], aggregate.count])).toEqual([
    [undefined, 2],
    [4, 1],
  ]);
});
