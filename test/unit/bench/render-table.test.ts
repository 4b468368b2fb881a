import { expect, test } from "vitest";
import { renderTable } from "../../../bench/render-table.ts";
import { createRow } from "../../../bench/row.ts";

const context = { bench: "gemm", case: "64", rounds: 5, device: "SwiftShader", software: true } as const;
const time = ["time", { unit: "ms", better: "lower" }] as const;

test("numbers stand flush right, a missing one is a dash with its reason, a missing peer is named first", () => {
  const rows = [
    createRow(context, time, [2], { name: "tfjs-webgpu", values: [25.5] }),
    createRow(context, time, [2], { name: "ort-webgpu", reason: "it is not installed" }),
  ];
  expect(renderTable(rows).split("\n")).toEqual([
    "gemm on SwiftShader (software device), medians of 5 rounds; a ratio above 1 means that ours is better",
    "without ort-webgpu: it is not installed",
    "case  metric  ours  peer          theirs  ratio",
    "64    time    2 ms  tfjs-webgpu  25.5 ms  12.75",
    "64    time    2 ms  ort-webgpu         –      –  it is not installed",
  ]);
});

test("a peer that failed in one case alone is not missing", () => {
  const rows = [
    createRow(context, time, [2], { name: "tfjs-webgpu", values: [25.5] }),
    createRow({ ...context, case: "65" }, time, [2], { name: "tfjs-webgpu", reason: "its output is wrong" }),
  ];
  expect(renderTable(rows)).not.toContain("without");
});

test("nothing measured, nothing shown", () => {
  expect(renderTable([])).toBe("");
});
