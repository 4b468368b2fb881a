import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { installSoftwareGpu } from "../../../src/gpu-runner/devices/gpu/software-gpu.ts";
import { CACHE_DIR } from "../software-gpu-cache.ts";

interface Line {
  readonly code: string | null;
  readonly triedTiles: boolean;
  readonly liveBytes: number;
}

let lines: readonly Line[] = [];

// In a process of its own, as always: Dawn needs its environment from the start and no worker thread.
beforeAll(async () => {
  const env = { ...process.env, ...(await installSoftwareGpu(CACHE_DIR)) };
  const script = path.join(import.meta.dirname, "limited/run-limited.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
  lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
});

test("a network whose rows are too large for a binding is refused, and leaves no buffer", () => {
  expect(lines[0]).toEqual({ code: "invalid-model", triedTiles: false, liveBytes: 0 });
});

test("sizes that are too large are that request's failure, and leave no buffer", () => {
  const [, loaded, first, large, again] = lines;
  expect([loaded, first, again].map((line) => line?.code)).toEqual([null, null, null]);
  expect(large?.code).toBe("backend-failed");
  expect(large?.liveBytes).toBe(first?.liveBytes);
  expect(again?.liveBytes).toBe(first?.liveBytes);
});

test("tiles are tried at the first sizes that are large enough, and may fail", () => {
  expect(lines.map(({ triedTiles }) => triedTiles)).toEqual([false, false, false, false, false, true, false, false]);
  expect(lines[5]?.code).toBeNull();
});

test("weights that cannot be written leave no buffer, and these sizes are served later", () => {
  expect(lines[6]).toMatchObject({ code: "internal", liveBytes: lines[5]?.liveBytes });
  expect(lines[7]?.code).toBeNull();
});
