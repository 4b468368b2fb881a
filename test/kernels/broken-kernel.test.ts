import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { installSoftwareGpu } from "../../src/gpu-runner/devices/gpu/software-gpu.ts";
import type { Problem } from "../../src/protocol/wire/problem.ts";
import { CACHE_DIR } from "./software-gpu-cache.ts";

interface Attempt {
  readonly kernel: string;
  readonly problem: Problem | null;
  readonly phases: readonly string[];
  readonly liveBytes: number;
  /** Counters of the pool, in the last line. */
  readonly counters?: { reused: number; destroyed: number; idleBytes: number };
}

let attempts: readonly Attempt[] = [];

// In a process of its own, as always: Dawn needs its environment from the start and no worker thread.
beforeAll(async () => {
  const env = { ...process.env, ...(await installSoftwareGpu(CACHE_DIR)) };
  const script = path.join(import.meta.dirname, "broken/run-broken.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
  attempts = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Attempt);
});

test("WGSL that does not compile is reported with line and column", () => {
  expect(attempts[0]).toMatchObject({ kernel: "syntax", problem: { code: "kernel-invalid" } });
  expect(attempts[0]?.problem?.detail).toContain("syntax/does-not-compile.wgsl:5:15: ");
});

test("an element that is never written is wrong, and nothing is timed then", () => {
  expect(attempts[1]).toMatchObject({ kernel: "unwritten", problem: { code: "kernel-incorrect" } });
  expect(attempts[1]?.problem?.detail).toBe("'values'[63] is NaN, the reference says 1");
  expect(attempts[1]?.phases).toEqual(["compile", "check"]);
});

test("a workgroup beyond the device's limits is invalid", () => {
  expect(attempts[2]).toMatchObject({ kernel: "too-wide", problem: { code: "kernel-invalid" } });
});

test("a feature that the device lacks is named", () => {
  expect(attempts[3]).toMatchObject({ kernel: "too-demanding", problem: { code: "kernel-invalid" } });
  expect(attempts[3]?.problem?.detail).toBe("'too-demanding' needs hovercraft, which this device does not have");
});

test("a binding beyond the device's limits is invalid and named", () => {
  expect(attempts[4]).toMatchObject({ kernel: "unwritten", problem: { code: "kernel-invalid" } });
  expect(attempts[4]?.problem?.detail).toContain("'values' has 4294967296 bytes");
});

test("no failure keeps a buffer", () => {
  expect(attempts.slice(0, 5).map(({ liveBytes }) => liveBytes)).toEqual([0, 0, 0, 0, 0]);
});

test("buffers that are not destroyed cannot pile up: all come back, and no more wait than may", () => {
  const sound = attempts.slice(5, -1);
  expect(sound).toHaveLength(40);
  expect(new Set(sound.map(({ problem, liveBytes }) => `${problem?.code} ${liveBytes}`))).toEqual(
    new Set(["undefined 0"]),
  );
  const { counters } = attempts.at(-1)!;
  expect(counters?.idleBytes).toBeLessThanOrEqual(200_000);
  expect(counters?.reused).toBeGreaterThan(40);
  expect(counters?.destroyed).toBeGreaterThan(0);
});
