import { appendFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { GcLog } from "../../../../bench/hop/gc-log.ts";

let log: GcLog;
let folder: string;

beforeEach(async () => {
  log = await GcLog.open();
  folder = dirname(log.variables.edge["MINIFLARE_WORKERD_PATH"] ?? "");
});
// Nothing has written into the pipe in some of these tests: closing does not wait for that.
afterEach(async () => {
  await log.close();
  await expect(stat(folder)).rejects.toThrow("ENOENT");
});

const lengths = async () => (await log.read()).map(({ fromMs, toMs }) => Number((toMs - fromMs).toFixed(3)));

it("reads what Node's processes note, by their start", async () => {
  const file = decodeURIComponent(log.variables.runner["NODE_OPTIONS"]?.split("?to=")[1] ?? "");
  await appendFile(file, '{"fromMs":20,"toMs":21.5}\n{"fromMs":10,"toMs":10.25}\n');
  expect(await log.read()).toEqual([
    { fromMs: 10, toMs: 10.25 },
    { fromMs: 20, toMs: 21.5 },
  ]);
});

it("reads V8's trace of the edge, by heap, and nothing else of what it says", async () => {
  const lines = [
    "[812:0x7f01]     1000 ms: Scavenge 5.0 (6.2) -> 4.1 (7.2) MB, pooled: 0 MB, 0.45 / 0.00 ms  (average mu = 1.000, current mu = 1.000) task;",
    "workerd says something",
    "[812:0x7f02]        5 ms: Scavenge 1.0 (2.2) -> 0.1 (2.2) MB, 0.10 / 0.00 ms  (average mu = 1.000, current mu = 1.000) allocation failure;",
    "[812:0x7f01]     1030 ms: Mark-Compact (reduce) 4.5 (7.0) -> 4.2 (6.7) MB, pooled: 0 MB, 1.20 / 0.05 ms  (+ 0.5 ms in 3 steps since start of marking)",
  ];
  await appendFile(join(folder, "gc.pipe"), `${lines.join("\n")}\n`);
  await vi.waitFor(async () => expect((await lengths()).toSorted((a, b) => a - b)).toEqual([0.1, 0.45, 1.2]), 10_000);
  // Those of one heap lie by its clock.
  const pauses = await log.read();
  const endOf = (ms: number) => pauses.find(({ fromMs, toMs }) => Math.abs(toMs - fromMs - ms) < 0.001)?.toMs ?? 0;
  expect(endOf(1.2) - endOf(0.45)).toBeCloseTo(30, 3);
});
