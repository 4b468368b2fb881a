import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { installSoftwareGpu } from "../../src/gpu-runner/devices/gpu/software-gpu.ts";
import type { TuningMeasurement } from "../../src/gpu-runner/kernels/tuning/tune-kernel.ts";
import type { Problem } from "../../src/protocol/wire/problem.ts";
import { TuningTrial } from "../../src/protocol/jobs/tuning.ts";
import { CACHE_DIR } from "./software-gpu-cache.ts";

interface Attempt {
  readonly found: TuningMeasurement | null;
  readonly problem: Problem | null;
  readonly phases: readonly string[];
  readonly expectedElements: number;
  readonly liveBytes: number;
}

let attempts: readonly Attempt[] = [];

// In a process of its own, as always: Dawn needs its environment from the start and no worker thread.
beforeAll(async () => {
  const env = { ...process.env, ...(await installSoftwareGpu(CACHE_DIR)) };
  const script = path.join(import.meta.dirname, "tuned/run-tuned.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
  attempts = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Attempt);
});

function trialOf(variant: string, axes: object) {
  return attempts[0]?.found?.trials.find(
    (trial) => trial.variant === variant && JSON.stringify(trial.axes) === JSON.stringify(axes),
  );
}

test("the fastest that is right is found, and is surely faster than the default", () => {
  expect(attempts[0]?.problem).toBeNull();
  const { best, untuned, gain, ...tuning } = attempts[0]!.found!.tuning;
  expect(best).toMatchObject({ variant: "spinning", axes: { lanes: 16, turns: 1 } });
  expect(untuned).toMatchObject({ variant: "spinning", axes: { lanes: 16, turns: 20_000 } });
  expect(gain?.low ?? 0).toBeGreaterThan(1);
  expect(tuning).toMatchObject({ kernel: "mixed", shape: { n: 1_024 }, bucket: { n: 1_024 }, candidates: 6 });
  // Its timestamps can be trusted for the slow ones, and not for the fast ones that they are compared with.
  expect(tuning.clock).toBe("runner-wall");
  expect(tuning.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test("a candidate that is wrong is disqualified though it does the least, and is never timed", () => {
  expect(trialOf("forgetful", { lanes: 16 })).toEqual({
    variant: "forgetful",
    axes: { lanes: 16 },
    outcome: "wrong",
    reason: "'values'[1023] is NaN, the reference says 1",
    rungsMs: [],
  });
});

test("what does not compile or fit is rejected with its reason", () => {
  expect(trialOf("broken", {})).toMatchObject({ outcome: "invalid", rungsMs: [] });
  expect(trialOf("broken", {})?.reason).toContain("does-not-compile.wgsl:5:15: ");
  expect(trialOf("spinning", { lanes: 2 ** 20, turns: 1 })).toMatchObject({
    outcome: "invalid",
    reason: expect.stringMatching(/^main: invocations of a workgroup are 1048576, and the device takes \d+$/),
  });
});

test("every trial is kept, with all its runs", () => {
  const trials = attempts[0]?.found?.trials ?? [];
  expect(trials).toHaveLength(6);
  expect(trials.map((trial) => TuningTrial.parse(trial))).toEqual(trials);
  expect(trialOf("spinning", { lanes: 16, turns: 20_000 })?.rungsMs.at(-1)).toHaveLength(24);
});

test("the reference is computed once for all candidates", () => {
  expect(attempts[0]?.expectedElements).toBe(1_024);
});

test("progress reports phase and candidates left", () => {
  expect(attempts[0]?.phases).toEqual(["check: 4", "rung 1: 2"]);
});

test("where nothing is right, the search fails with the reason", () => {
  expect(attempts[1]).toMatchObject({ found: null, problem: { code: "kernel-incorrect" } });
  expect(attempts[1]?.problem?.detail).toBe("'values'[1023] is NaN, the reference says 1");
});

test("a search that is cancelled ends, and none keeps a buffer", () => {
  expect(attempts[2]).toMatchObject({ found: null, problem: { code: "cancelled" } });
  expect(attempts.map(({ liveBytes }) => liveBytes)).toEqual([0, 0, 0]);
});
