import { expect, test } from "vitest";
import { recovery } from "../../../src/gpu-runner/device-suite/recovery.ts";
import { childPids } from "../child-pids.ts";
import { usePart } from "./suite-part.ts";

const run = usePart();

test("every fault has its name, is followed by correct work, and leaves no process", { timeout: 240_000 }, async () => {
  const before = await childPids(process.pid);
  const checks = await run(recovery);
  expect(checks.map(({ name, outcome, figures }) => [name, outcome, figures?.["fault"]])).toEqual([
    ["endless kernel", "passed", "kernel-timeout"],
    ["endless submitted kernel", "passed", "kernel-timeout"],
    ["killed process", "passed", "device-lost"],
    ["too much memory", "passed", "out-of-memory"],
    ["the suite's own process", "passed", undefined],
  ]);
  expect(checks.map(({ figures }) => figures?.["restarts"])).toEqual([1, 0, 1, 0, undefined]);
  expect(await childPids(process.pid)).toEqual(before);
});
