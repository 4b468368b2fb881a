import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { installSoftwareGpu } from "../../src/gpu-runner/devices/gpu/software-gpu.ts";
import { CACHE_DIR } from "./software-gpu-cache.ts";

let lines: readonly unknown[] = [];

// In a process of its own, as always: Dawn needs its environment from the start and no worker thread.
beforeAll(async () => {
  const env = { ...process.env, ...(await installSoftwareGpu(CACHE_DIR)) };
  const script = path.join(import.meta.dirname, "small/run-small.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
  lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
});

test("a peak is measured at the largest size that the driver has memory for", () => {
  expect(lines[0]).toEqual({ shape: { n: 2 ** 12 }, liveBytes: 0 });
});

test("a pass without workgroups counts as no dispatch", () => {
  expect(lines[1]).toEqual({ dispatches: 1 + 2 });
});

test("a GPU is kept busy before it is timed, unless it has just been, and an emulation never", () => {
  expect(lines[2]).toEqual({ raised: true, again: 0 });
});

test("the batch that would fit may be one that runs in parts", () => {
  const errors = [{ pointer: "#/shape/rows", message: "512 would fit now" }];
  expect(lines[3]).toMatchObject({ problem: { code: "out-of-memory", errors } });
});
