import { expect, test } from "vitest";
import { ThroughputSpec } from "../../../src/protocol/jobs/throughput.ts";

test.each([
  ["intervalMs", 50, 5_000],
  ["adaptMs", 100, 120_000],
  ["measureMs", 100, 120_000],
  ["maxDepth", 1, 16],
])("%s of a throughput job is %d to %d", (field, min, max) => {
  const isTaken = (value: number) =>
    ThroughputSpec.safeParse({ kind: "throughput", kernel: "gemm", [field]: value }).success;
  expect([min - 1, min, max, max + 1].map(isTaken)).toEqual([false, true, true, false]);
});
