import { expect, it } from "vitest";
import { LineTable } from "../../../../../src/gpu-runner/serving/queue/line-table.ts";
import type { Tensor } from "../../../../../src/protocol/wire/tensor.ts";

const tensor = (...shape: number[]): Tensor => ({ name: "x", dtype: "int8", shape, bytes: new Uint8Array() });

it("requests of one model and one shape but for the rows stand in one line", () => {
  const table = new LineTable();
  const line = table.lineOf("m/fp32", [tensor(1, 2)], true);
  expect(line.joins).toBe(true);
  expect(table.lineOf("m/fp32", [tensor(9, 2)], true)).toBe(line);
  expect(table.lineOf("m/int8", [tensor(1, 2)], true)).not.toBe(line);
  expect(table.lineOf("m/fp32", [tensor(1, 3)], true)).not.toBe(line);
});

it("requests that are not joined stand beside it and share its times", () => {
  const table = new LineTable();
  const alone = table.lineOf("m/fp32", [tensor(1, 2)], false);
  const line = table.lineOf("m/fp32", [tensor(1, 2)], true);
  expect(alone).toMatchObject({ joins: false });
  expect(line.alone).toBe(alone);
  expect(alone.alone).toBe(alone);
  expect(alone.times).toBe(line.times);
});

it("requests under other caps stand in another line of the same times", () => {
  const table = new LineTable();
  const free = table.lineOf("m", [tensor(1, 2)], true);
  const capped = table.lineOf("m", [tensor(1, 2)], true, { maxRows: 4, maxInFlight: 2 });
  expect(capped).toMatchObject({ modelKey: "m", maxRows: 4, maxInFlight: 2, joins: true });
  expect(capped.alone).toMatchObject({ modelKey: "m", maxInFlight: 2, joins: false });
  expect(capped).not.toBe(free);
  expect(capped.times).toBe(free.times);
  expect(table.lineOf("m", [tensor(3, 2)], true, { maxRows: 4, maxInFlight: 2 })).toBe(capped);
  expect(table.lineOf("m", [tensor(1, 2)], true, { maxRows: null, maxInFlight: null })).toBe(free);
});

it("the line that was used longest ago is forgotten where callers send ever new shapes", () => {
  const table = new LineTable();
  const [first, second] = [table.lineOf("m", [tensor(1, 1)], true), table.lineOf("m", [tensor(1, 2)], true)];
  for (let size = 3; size <= 64; size++) table.lineOf("m", [tensor(1, size)], true);
  expect(table.lineOf("m", [tensor(1, 1)], true)).toBe(first);
  table.lineOf("m", [tensor(1, 65)], true);
  expect(table.lineOf("m", [tensor(1, 1)], true)).toBe(first);
  expect(table.lineOf("m", [tensor(1, 2)], true)).not.toBe(second);
});
