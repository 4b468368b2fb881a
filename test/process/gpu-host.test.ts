import { KERNELS } from "../../kernels/registry.ts";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { BenchmarkResult, BenchmarkSpec } from "../../src/protocol/jobs/benchmark.ts";
import { type JobProgress } from "../../src/protocol/jobs/job.ts";
import { summarise } from "../../src/stats/distribution/distribution.ts";
import { CACHE_DIR } from "../kernels/software-gpu-cache.ts";
import { abortWithoutGrace } from "./abort-without-grace.ts";
import { problemOf } from "./problem-of.ts";

const TIMEOUT_MS = 300_000;
/** Enough to measure a model's layouts on a slow machine. */
const RUN_LIMIT_MS = 240_000;
const SHARED = {
  role: "gpu",
  deviceKey: "gpu0",
  cacheDir: CACHE_DIR,
  logger: pino({ level: "silent" }),
  driver: "software",
} as const;

let host: DeviceHost;
beforeAll(async () => {
  host = await DeviceHost.start(SHARED);
}, TIMEOUT_MS);
afterAll(() => host.stop());

const small = BenchmarkSpec.parse({
  kind: "benchmark",
  kernel: "gemm",
  shape: { m: 33, n: 34, k: 35 },
  iterations: 7,
  warmup: 2,
});
/** Runs for minutes unless it is ended. */
const long = BenchmarkSpec.parse({
  kind: "benchmark",
  kernel: "gemm",
  shape: { m: 256, n: 256, k: 256 },
  iterations: 10_000,
});
/** One dispatch takes ten seconds or more, so no abort is seen in time. */
const stubborn = BenchmarkSpec.parse({
  kind: "benchmark",
  kernel: "gemm",
  variant: "shared-tiled",
  shape: { m: 1024, n: 1024, k: 1024 },
});

/** Never 0, which would be this process and all of its relatives. */
function pidOf({ pid }: DeviceHost): number {
  if (pid === null) throw new Error("there is no process");
  return pid;
}

/** A benchmark with a promise of its first timed run. */
function startBenchmark(spec: BenchmarkSpec, signal?: AbortSignal) {
  const measuring = Promise.withResolvers<void>();
  const onProgress = ({ phase }: JobProgress) => {
    if (phase === "measure") measuring.resolve();
  };
  return { measuring: measuring.promise, outcome: host.benchmark(spec, { onProgress, ...(signal && { signal }) }) };
}

test("the device is described and marked as software", () => {
  expect(host.device).toMatchObject({ key: "gpu0", kind: "gpu", software: true, timestampQuantised: false });
  expect(host.device.name).toContain("swiftshader");
  expect(host.device.fingerprint).toMatchObject({ toggles: ["-timestamp_quantization"], ort: null });
  expect(host.device.fingerprint.dawn).toMatch(/^webgpu \d/);
  expect(host.device.features).toContain("timestamp-query");
  expect(host.device.limits["maxComputeInvocationsPerWorkgroup"]).toBeGreaterThanOrEqual(256);
  expect(host.kernels.map(({ name }) => name)).toEqual([...KERNELS.keys()]);
  expect(host.kernels[0]?.variants).toEqual(["register-tiled", "shared-tiled", "sliced"]);
});

test(
  "a benchmark comes back checked, with both clocks",
  async () => {
    const phases = new Set<string>();
    const measured = await host.benchmark(small, { onProgress: ({ phase }) => phases.add(phase) });
    expect([...phases]).toEqual(["compile", "check", "warmup", "measure"]);
    const { traceText, samples, ...result } = measured;
    expect(traceText).toBeNull();
    expect(summarise(samples.wallMs)).toEqual(measured.wallMs);
    expect(samples.gpuMs && summarise(samples.gpuMs)).toEqual(measured.gpuMs);
    const Measured = BenchmarkResult.omit({ kind: true, environment: true, roofline: true, tuned: true });
    expect(Measured.parse(result)).toEqual(result);
    expect(result).toMatchObject({ occupancy: null, trace: null });
    expect(measured).toMatchObject({
      kernel: "gemm",
      variant: "register-tiled",
      shape: { m: 33, n: 34, k: 35 },
      warmup: 2,
    });
    expect(measured.correctness).toMatchObject({ correct: true, checkedElements: 33 * 34 });
    expect(measured.wallMs.count).toBe(7);
    expect(measured.gpuMs?.count).toBe(7);
    const medianMs = measured.clock === "gpu-timestamp" ? measured.gpuMs?.p50 : measured.wallMs.p50;
    expect(measured.gflops).toBeCloseTo((2 * 33 * 34 * 35) / ((medianMs ?? 0) * 1e6), 6);
    expect(measured.gigabytesPerSecond).toBeCloseTo((4 * (33 * 35 + 35 * 34 + 33 * 34)) / ((medianMs ?? 0) * 1e6), 6);
  },
  TIMEOUT_MS,
);

test(
  "the same seed gives the same error against the reference, another seed another",
  async () => {
    const errorOf = async (seed: number) => (await host.benchmark({ ...small, seed })).correctness.maxAbsoluteError;
    expect(await errorOf(5)).toBe(await errorOf(5));
    expect(await errorOf(5)).not.toBe(await errorOf(6));
  },
  TIMEOUT_MS,
);

test("a wrong kernel or size is reported by field", async () => {
  expect(await problemOf(host.benchmark({ ...small, kernel: "nope" }))).toMatchObject({
    code: "unknown-kernel",
    errors: [{ pointer: "#/kernel" }],
  });
  expect(await problemOf(host.benchmark({ ...small, shape: { m: 100_000 } }))).toMatchObject({
    code: "invalid-request",
    errors: [{ pointer: "#/shape/m" }],
  });
});

test("a file that is no model is reported, and the device goes on", async () => {
  const load = host.loadModel({ modelKey: "mdv_1", path: "model.onnx" });
  expect((await problemOf(load)).code).toBe("invalid-model");
  const bytes = host.loadModel({ modelKey: "mdv_1", read: async () => Uint8Array.of(1, 2, 3) });
  expect((await problemOf(bytes)).code).toBe("invalid-model");
  expect(host.restarts).toBe(0);
});

test(
  "a killed process loses its benchmark, and the next one runs",
  async () => {
    const { restarts } = host;
    const { measuring, outcome } = startBenchmark(long);
    await measuring;
    process.kill(pidOf(host), "SIGKILL");
    expect((await problemOf(outcome)).code).toBe("device-lost");
    expect((await host.benchmark(small)).correctness.correct).toBe(true);
    expect(host.restarts).toBe(restarts + 1);
  },
  TIMEOUT_MS,
);

test(
  "a benchmark that takes too long is killed, and the next one runs",
  async () => {
    const pid = pidOf(host);
    const problem = await problemOf(host.benchmark({ ...stubborn, timeoutMs: 500 }));
    expect(problem.code).toBe("kernel-timeout");
    expect((await host.benchmark(small)).correctness.correct).toBe(true);
    expect(host.pid).not.toBe(pid);
  },
  TIMEOUT_MS,
);

test(
  "a stopped process, which hears no SIGTERM, is killed too",
  async () => {
    process.kill(pidOf(host), "SIGSTOP");
    expect((await problemOf(host.benchmark({ ...small, timeoutMs: 200 }))).code).toBe("kernel-timeout");
    expect((await host.benchmark(small)).correctness.correct).toBe(true);
  },
  TIMEOUT_MS,
);

test(
  "a cancelled benchmark ends between two runs, and its process lives on",
  async () => {
    const pid = pidOf(host);
    const controller = new AbortController();
    const { measuring, outcome } = startBenchmark(long, controller.signal);
    await measuring;
    abortWithoutGrace(controller);
    expect((await problemOf(outcome)).code).toBe("cancelled");
    expect((await host.benchmark(small)).correctness.correct).toBe(true);
    expect(host.pid).toBe(pid);
  },
  TIMEOUT_MS,
);

test(
  "a cancelled benchmark that does not listen is ended by force",
  async () => {
    const pid = pidOf(host);
    const controller = new AbortController();
    const onProgress = ({ phase }: JobProgress) => phase === "check" && controller.abort();
    const outcome = host.benchmark(stubborn, { signal: controller.signal, onProgress });
    expect((await problemOf(outcome)).code).toBe("cancelled");
    expect((await host.benchmark(small)).correctness.correct).toBe(true);
    expect(host.pid).not.toBe(pid);
  },
  TIMEOUT_MS,
);

test(
  "benchmarks sent together run one after another",
  async () => {
    const measured = await Promise.all([host.benchmark(small), host.benchmark({ ...small, seed: 2 })]);
    expect(measured.map(({ correctness }) => correctness.correct)).toEqual([true, true]);
  },
  TIMEOUT_MS,
);

test(
  "a process without work ends, and the next call starts another one",
  async () => {
    const idle = await DeviceHost.start({ ...SHARED, restAfterMs: 500 });
    const rested = async () => {
      await expect.poll(() => idle.pid, { timeout: TIMEOUT_MS }).toBeNull();
    };
    try {
      const first = pidOf(idle);
      await rested();
      expect([idle.isDown, await idle.readPool(AbortSignal.timeout(TIMEOUT_MS))]).toEqual([false, null]);
      const { correctness } = await idle.benchmark(small);
      expect(correctness.correct).toBe(true);
      expect(pidOf(idle)).not.toBe(first);
      expect(idle.restarts).toBe(0);
      // Questions about its buffers, as a monitor asks them, are no work.
      const asking = setInterval(() => void idle.readPool(AbortSignal.timeout(TIMEOUT_MS)).catch(() => {}), 100);
      await rested().finally(() => clearInterval(asking));
      // Two calls at once share the new process.
      const both = await Promise.all([idle.benchmark(small), idle.benchmark(small)]);
      expect(both.map((each) => each.correctness.correct)).toEqual([true, true]);
      expect(idle.restarts).toBe(0);
      await rested();
    } finally {
      await idle.stop();
    }
  },
  TIMEOUT_MS,
);

test(
  "a process that holds a model stays",
  async () => {
    const start = () => DeviceHost.start({ ...SHARED, models: "on", restAfterMs: 300, runLimitMs: RUN_LIMIT_MS });
    const holding = await start();
    try {
      await holding.loadModel({ modelKey: "cartpole", path: "models/cartpole/cartpole.onnx" });
      const pid = pidOf(holding);
      // One that begins later and holds nothing ends first.
      const other = await start();
      await expect.poll(() => other.pid, { timeout: TIMEOUT_MS }).toBeNull();
      await other.stop();
      expect(holding.pid).toBe(pid);
      await holding.unloadModel("cartpole");
      await expect.poll(() => holding.pid, { timeout: TIMEOUT_MS }).toBeNull();
    } finally {
      await holding.stop();
    }
  },
  TIMEOUT_MS,
);
