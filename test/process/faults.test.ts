/** The faults of docs/operations.md, each on a real device process with a real driver. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { DeviceFleet } from "../../src/gpu-runner/serving/device-fleet.ts";
import { FailureFile } from "../../src/gpu-runner/device-host/failure-file.ts";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import type { JobProgress } from "../../src/protocol/jobs/job.ts";
import { ThroughputSpec } from "../../src/protocol/jobs/throughput.ts";
import { CACHE_DIR } from "../kernels/software-gpu-cache.ts";
import { problemOf } from "./problem-of.ts";
import { runJob } from "./run-job.ts";

/** Kernels that lives of the device's process say to have compiled in advance. */
let warmed: string[] = [];
const logger = pino({
  level: "info",
  hooks: {
    logMethod: ([fields]) => {
      const { line = "" }: { line?: string } = Object(fields);
      if (line.startsWith("warmed ")) warmed.push(...line.split(" ").slice(1));
    },
  },
});
const shared = { cacheDir: CACHE_DIR, logger };

/** Elements with which hundreds of runs take seconds. */
const MANY = { n: 2 ** 19 };
/** Hangs beyond three until a kernel is locked out. */
const MORE_HANGS = 8;

let host: DeviceHost;
let cpu: DeviceHost;
let folder = "";
let fleet: DeviceFleet;
beforeAll(async () => {
  const entry = new URL("faulty/faulty-device.ts", import.meta.url);
  [host, cpu] = await Promise.all([
    DeviceHost.start({ role: "gpu", deviceKey: "gpu0", driver: "software", entry, ...shared }),
    DeviceHost.start({ role: "cpu", deviceKey: "cpu", ...shared }),
  ]);
});
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "millrace-faults-"));
  fleet = new DeviceFleet([cpu, host], new FailureFile(folder, logger));
  return () => rm(folder, { recursive: true });
});
afterAll(() => Promise.all([host.stop(), cpu.stop()]));

/** One timed run, unless it says otherwise. */
function runKernel(kernel: string, changes: object = {}, onProgress?: (progress: JobProgress) => void) {
  return runJob(fleet, { kernel, warmup: 0, iterations: 1, ...changes }, { onProgress });
}

/** Expected state after every fault. */
async function expectNextRuns(): Promise<void> {
  const { result } = await runKernel("ones");
  expect(result.correctness).toMatchObject({ correct: true, checkedElements: 64 });
  expect(result.faults).toBeUndefined();
}

/** True if the process is the same after a piece of work. */
async function survives(work: () => Promise<unknown>): Promise<boolean> {
  const { pid } = host;
  await work();
  await expectNextRuns();
  return host.pid === pid;
}

test("endless kernel", async () => {
  const hang = () => problemOf(runKernel("endless", { timeoutMs: 4_000 }));
  expect(await survives(async () => expect((await hang()).code).toBe("kernel-timeout"))).toBe(false);
  // It hangs three times in a row: from then on it does not get as far as the device. A hang counts that was silent for
  // most of its limit, which a slow machine may spend on compiling: then one more is needed.
  await hang();
  let refused = await hang();
  for (let more = 0; refused.code === "kernel-timeout" && more < MORE_HANGS; more++) refused = await hang();
  expect(refused).toMatchObject({ code: "kernel-quarantined", status: 503 });
  expect(refused.retryAfterMs).toBeGreaterThan(0);
  expect(fleet.devices).toMatchObject([{ key: "cpu" }, { quarantined: [{ kernel: "endless", failures: 3 }] }]);
  await expectNextRuns();
});

test("endless kernel, a reference allowed", async () => {
  const allowed = { shape: { n: 1_000 }, timeoutMs: 12_000, onDeviceFailure: "cpu-reference" };
  const { result, deviceKey } = await runKernel("triad", allowed);
  expect(deviceKey).toBe("cpu");
  expect(result).toMatchObject({
    fallback: "cpu-reference",
    variant: "f64-reference",
    shape: { n: 1_000 },
    gpuMs: null,
    correctness: { checkedElements: 1_000 },
    environment: { deviceKey: "cpu", software: false },
    faults: [{ code: "kernel-timeout", action: "cpu-reference" }],
  });
  await expectNextRuns();
});

test("100 GB buffer", async () => {
  const kept = await survives(async () => {
    const problem = await problemOf(runKernel("ones", { shape: { n: 25e9 } }));
    expect(problem.code).toBe("kernel-invalid");
    expect(problem.detail).toContain("'values' has 100000000000 bytes");
    expect(problem.errors).toEqual([{ pointer: "#/shape/n", message: expect.stringMatching(/^\d+ would fit now$/) }]);
  });
  expect(kept).toBe(true);
});

test("memory ends", async () => {
  const lives = host.restarts;
  const { pid } = host;
  // Its current memory and 200 MB: the driver's own allocations fail from there on.
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const sizeBytes = 1_024 * Number(/VmSize:\s+(\d+)/.exec(status)?.[1]);
  const limit = (bytes: string) => promisify(execFile)("prlimit", ["--pid", String(pid), `--as=${bytes}:`]);
  await limit(String(sizeBytes + 200e6));
  const huge = { shape: { n: 2 ** 28 } };
  const problem = await problemOf(runKernel("ones", huge));
  expect(problem).toMatchObject({ code: "out-of-memory", errors: [{ pointer: "#/shape/n" }] });
  const { result } = await runKernel("ones", { ...huge, allowSmallerBatch: true });
  expect(host).toMatchObject({ pid, restarts: lives });
  await limit("unlimited").catch(() => undefined);
  expect(result.shape["n"]).toBeLessThan(2 ** 28);
  // The driver's use of the bounded memory differs from try to try, so the fitting size is found again.
  const [, told = ""] = /^(\d+) would fit now$/.exec(problem.errors?.[0]?.message ?? "") ?? [];
  expect(Number(told)).toBeGreaterThan(0);
  expect(Number(told)).toBeLessThan(2 ** 28);
  const detail = `n = ${2 ** 28} did not fit; ${result.shape["n"]} was run`;
  expect(result.faults).toEqual([{ code: "out-of-memory", detail, action: "smaller-batch" }]);
  // Until the bound was lifted, Node's own threads may have ended the process where they could not allocate.
  const { result: next } = await runKernel("ones");
  expect(next.correctness).toMatchObject({ correct: true, checkedElements: 64 });
  expect(next.faults ?? [{ code: "device-lost", action: "retried" }]).toMatchObject([{ code: "device-lost" }]);
});

test("10,000 small buffers", async () => {
  expect(await survives(() => runKernel("ten-thousand-buffers"))).toBe(true);
});

test("device.destroy() in mid-run", async () => {
  const problem = problemOf(runKernel("destroys", { iterations: 10_000 }));
  expect((await problem).code).toBe("device-lost");
  await expectNextRuns();
});

test("device.destroy() behind a hung kernel", async () => {
  const problem = problemOf(runKernel("destroys-behind-hang", { timeoutMs: 1_000 }));
  expect((await problem).code).toBe("kernel-timeout");
  await expectNextRuns();
});

test("child SIGKILL", async () => {
  const { restarts } = host;
  let killed = false;
  const onProgress = ({ phase }: JobProgress) => {
    if (phase !== "measure" || killed) return;
    killed = true;
    process.kill(host.pid!, "SIGKILL");
  };
  const { result } = await runKernel("ones", { iterations: 500, shape: MANY, timeoutMs: 250_000 }, onProgress);
  expect(result.wallMs.count).toBe(500);
  expect(result.faults).toMatchObject([{ code: "device-lost", action: "retried" }]);
  expect(host.restarts).toBe(restarts + 1);
  await expectNextRuns();
});

test("driver crashes (SIGSEGV), again and again", async () => {
  const crash = () => problemOf(runKernel("crashes", { iterations: 10_000 }));
  const { restarts } = host;
  expect((await crash()).code).toBe("device-lost");
  expect(host.restarts).toBeGreaterThan(restarts);
  expect((await crash()).code).toBe("kernel-quarantined");
  // The runner is started again: it remembers.
  fleet = new DeviceFleet([cpu, host], new FailureFile(folder, logger));
  expect((await crash()).code).toBe("kernel-quarantined");
  await expectNextRuns();
});

test("worker thread ended with a pending map", async () => {
  expect((await problemOf(runKernel("pending-map", { iterations: 10_000, shape: MANY }))).code).toBe("device-lost");
  await expectNextRuns();
});

test.each([
  ["invalid WGSL", "invalid", "kernel-invalid", "invalid/does-not-compile.wgsl:3:16: "],
  ["wrong binding sizes", "wants-more", "kernel-invalid", "too small"],
  ["NaN inputs", "nan", "kernel-incorrect", "'values'[0] is NaN, the reference says NaN"],
])("%s", async (_, kernel, code, detail) => {
  const kept = await survives(async () => {
    for (let i = 0; i < 4; i++) {
      const problem = await problemOf(runKernel(kernel));
      expect(problem).toMatchObject({ code, detail: expect.stringContaining(detail) });
    }
  });
  expect(kept).toBe(true);
});

test("a stream that fails gives its buffers back", async () => {
  const live = async () => (await host.readPool(AbortSignal.timeout(60_000)))?.liveBytes;
  const before = await live();
  const spec = ThroughputSpec.parse({ kind: "throughput", kernel: "nan" });
  const problem = await problemOf(host.work("stream", { spec }, spec.timeoutMs));
  expect(problem.code).toBe("kernel-incorrect");
  expect(await live()).toBe(before);
  await expectNextRuns();
});

test("a new life compiles what the last one used, before it takes calls", async () => {
  await runKernel("ones");
  warmed = [];
  process.kill(host.pid!, "SIGKILL");
  await runKernel("ones");
  await expect.poll(() => warmed).toContain("ones");
  // A kernel that does not compile was never in use.
  expect(warmed).not.toContain("invalid");
});
