import { expect, test } from "vitest";
import { compareAlone } from "../../../../bench/goodput/compare-alone.ts";
import { interpolate } from "../../../../bench/goodput/service-times.ts";
import { splitRows } from "../../../../bench/goodput/split-rows.ts";
import { createRow, type PeerResult } from "../../../../bench/row.ts";

const context = { bench: "goodput", case: "2×", rounds: 5, device: "scripted", software: true };
const row = (metric: string, name: string, result: PeerResult) =>
  createRow(context, [metric, { unit: "1/s", better: "higher" }], [100], { name, ...result });

test("the scheduler alone is put in the place of ours, with its own ratio to every other peer", async () => {
  async function* rows() {
    yield row("goodput", "runner-alone", { values: [200] });
    yield row("goodput", "fifo", { values: [50] });
    yield row("goodput", "bentoml", { reason: "it is out" });
    yield row("refused", "fifo", { values: [1] });
  }
  const found = await Array.fromAsync(compareAlone(rows()));
  expect(found.map(({ case: name, metric, ours, peer, ratio }) => [name, metric, ours, peer, ratio])).toEqual([
    ["2×", "goodput", 100, "runner-alone", 0.5],
    ["2×", "goodput", 100, "fifo", 2],
    ["2×, runner alone", "goodput", 200, "fifo", 4],
    ["2×", "goodput", 100, "bentoml", null],
    ["2×, runner alone", "goodput", 200, "bentoml", null],
    ["2×", "refused", 100, "fifo", 100],
  ]);
  expect(found[4]?.reason).toBe("it is out");
});

test("rows of a batch come out in the order of the requests", () => {
  const tensor = (shape: number[], values: number[]) => {
    const bytes = new Uint8Array(Float32Array.from(values).buffer);
    return { name: "x", dtype: "float32" as const, shape, bytes };
  };
  const rows = [[tensor([1, 2], [1, 2])], [tensor([1, 2], [3, 4])], [tensor([1, 2], [5, 6])]];
  expect(splitRows([tensor([3, 2], [1, 2, 3, 4, 5, 6])], 3)).toEqual(rows);
});

test("between two measured sizes a batch's duration lies on a straight line", () => {
  const values = interpolate([
    [1, 2],
    [2, 3],
    [4, 9],
  ]);
  expect(values).toEqual([2, 3, 6, 9]);
});
