import { pino } from "pino";
import { expect, test } from "vitest";
import { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import type { Part } from "../../../src/gpu-runner/device-suite/check.ts";
import { checkRecovery, recovery } from "../../../src/gpu-runner/device-suite/recovery.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";
import { childPids } from "../child-pids.ts";
import { usePart } from "./suite-part.ts";

const run = usePart();
const logger = pino({ level: "silent" });

test("every fault has its name, is followed by correct work, and leaves no process", { timeout: 600_000 }, async () => {
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

test("a process that a fault leaves behind is found", async () => {
  let left: DeviceHost | null = null;
  const part: Part = async function* leave(context) {
    yield await checkRecovery(context, "leaving", async () => {
      left = await DeviceHost.start({ role: "cpu", deviceKey: "left", cacheDir: CACHE_DIR, logger });
      return {};
    });
  };
  try {
    const [check] = await run(part);
    expect(check).toMatchObject({
      outcome: "failed",
      reason: expect.stringContaining("1 of its processes did not end."),
    });
  } finally {
    await (left as DeviceHost | null)?.stop();
  }
});
