import { expect, test } from "vitest";
import { createRow, orientRatio } from "../../../bench/row.ts";

const context = { bench: "gemm", case: "64", rounds: 5, device: "SwiftShader", software: true } as const;
const time = ["time", { unit: "ms", better: "lower" }] as const;
const rate = ["rate", { unit: "1/s", better: "higher" }] as const;

test.each([
  [2, 6, "lower", 3],
  [6, 2, "lower", 1 / 3],
  [6, 2, "higher", 3],
  [2, 6, "higher", 1 / 3],
] as const)("ours %d, theirs %d, %s is better: %d", (ours, theirs, better, ratio) => {
  expect(orientRatio(ours, theirs, better)).toBeCloseTo(ratio, 12);
});

test.each([
  [0, 1, "lower"],
  [1, 0, "lower"],
  [0, 1, "higher"],
  [1, 0, "higher"],
  [0, 0, "lower"],
  [Number.NaN, 1, "lower"],
] as const)("ours %d, theirs %d, %s is better: no ratio", (ours, theirs, better) => {
  expect(orientRatio(ours, theirs, better)).toBeNull();
});

test("a row holds the medians of all rounds, in the order of the contract", () => {
  const row = createRow(context, time, [3, 1, 2], { name: "tfjs-webgpu", values: [9, 5, 100] });
  expect(JSON.stringify(row)).toBe(
    '{"bench":"gemm","case":"64","metric":"time","unit":"ms","ours":2,"peer":"tfjs-webgpu","peerValue":9,' +
      '"ratio":4.5,"better":"lower","rounds":5,"device":"SwiftShader","software":true}',
  );
});

test("a failure of ours has its reason in the row, beside the peer's value", () => {
  const row = createRow(context, time, { reason: "it is full" }, { name: "tfjs-webgpu", values: [9] });
  expect(row).toMatchObject({ ours: null, peerValue: 9, ratio: null, reason: "ours: it is full" });
  const neither = createRow(context, time, { reason: "it is full" }, { name: "tfjs-webgpu", reason: "absent" });
  expect(neither).toMatchObject({ ours: null, peerValue: null, reason: "ours: it is full" });
});

test("a rate is better when it is higher", () => {
  expect(createRow(context, rate, [30], { name: "fifo", values: [10] })).toMatchObject({ ratio: 3, better: "higher" });
});

test("the ratio is taken before anything is rounded", () => {
  const row = createRow(context, time, [1.000004], { name: "ort-cpu", values: [3.000012] });
  expect(row).toMatchObject({ ours: 1, peerValue: 3, ratio: 3 });
});

test("a peer that is out leaves a row with the reason", () => {
  const row = createRow(context, time, [2], { name: "ort-webgpu", reason: "it is not installed" });
  expect(row).toMatchObject({
    ours: 2,
    peer: "ort-webgpu",
    peerValue: null,
    ratio: null,
    reason: "it is not installed",
  });
});

test("what no peer has says so", () => {
  expect(createRow(context, time, [2], null)).toMatchObject({
    peer: null,
    peerValue: null,
    ratio: null,
    reason: "no peer has this part",
  });
});
