import type { Capabilities, Device } from "../../../src/protocol/fleet/hardware.ts";
import type { BenchmarkResult } from "../../../src/protocol/jobs/benchmark.ts";
import type { ThroughputResult } from "../../../src/protocol/jobs/throughput.ts";
import type { CalibrationResult } from "../../../src/protocol/jobs/calibration.ts";
import type { MemoryReport } from "../../../src/protocol/fleet/memory.ts";
import type { TuningRecord, TuningResult } from "../../../src/protocol/jobs/tuning.ts";
import { type Distribution, summarise } from "../../../src/stats/distribution/distribution.ts";

/** Objects of the protocol as a runner would send them, for tests in any runtime. */

const cpu: Device = {
  key: "cpu",
  kind: "cpu",
  name: "Sample CPU",
  software: false,
  fingerprint: { adapter: null, driver: null, dawn: null, toggles: [], ort: "1.30.0", cpu: "Sample CPU" },
  backends: ["ort-cpu"],
  features: [],
  limits: {},
  memoryBytes: null,
  timestampQuantised: null,
  roofline: null,
};

const softwareGpu: Device = {
  ...cpu,
  key: "gpu0",
  kind: "gpu",
  name: "Sample software GPU",
  software: true,
  fingerprint: { adapter: "sample", driver: "1", dawn: "1", toggles: ["a"], ort: null, cpu: "Sample CPU" },
  backends: ["wgsl"],
  features: ["subgroups"],
  timestampQuantised: false,
};

export const capabilities: Capabilities = {
  version: "0.1.0",
  hardware: {
    hostname: "sample",
    os: "Linux",
    arch: "x64",
    cpu: { model: "Sample CPU", physicalCores: 2, logicalCores: 4, speedGhz: null, features: [] },
    memoryBytes: 8 * 2 ** 30,
    virtual: true,
    node: "v24.0.0",
  },
  devices: [cpu, softwareGpu],
  kernels: [
    {
      name: "halves",
      description: "needs what no device here has",
      dimensions: [{ name: "n", description: "elements", min: 1, max: 1_048_576, default: 1_024 }],
      dtypes: ["float16"],
      features: ["shader-f16"],
      variants: ["plain"],
    },
    {
      name: "triad",
      description: "a = b + s·c",
      dimensions: [{ name: "n", description: "elements", min: 1, max: 1_048_576, default: 1_024 }],
      dtypes: ["float32"],
      variants: ["plain"],
      axes: { plain: [{ name: "lanes", values: [32, 64], default: 64 }] },
      bindings: [
        { name: "b", access: "read", dtype: "float32", alignment: [4] },
        { name: "c", access: "read", dtype: "float32", alignment: [4] },
        { name: "a", access: "write", dtype: "float32", alignment: [4] },
      ],
    },
  ],
  jobSlots: 1,
  userKernels: true,
  sharesJobs: true,
};

export function distribution(values: readonly number[] = [1, 2, 3]): Distribution {
  return summarise(values);
}

const environment = {
  deviceKey: "gpu0",
  deviceName: softwareGpu.name,
  software: true,
  fingerprint: softwareGpu.fingerprint,
  runnerVersion: "0.1.0",
  loadAverage: 0.5,
  otherJobs: 0,
};

/** A benchmark without GPU timestamps and GFLOP/s: its run leaves `wallMs` and `gigabytesPerSecond`. */
export function benchmarkResult(wallMs: readonly number[] = [1, 2, 3]): BenchmarkResult {
  return {
    kind: "benchmark",
    kernel: "triad",
    variant: "plain",
    axes: {},
    defaultAxes: true,
    tuned: false,
    shape: { n: 64 },
    dtype: "float32",
    correctness: { correct: true, checkedElements: 64, maxAbsoluteError: 0, maxRelativeError: 0, tolerance: "exact" },
    warmup: 1,
    gpuMs: null,
    wallMs: distribution(wallMs),
    clock: "runner-wall",
    gflops: null,
    gigabytesPerSecond: 4,
    roofline: null,
    occupancy: null,
    counters: null,
    trace: null,
    environment,
  };
}

/** A stream that settled at two submissions in flight: its run has a rate, a share and a latency. */
export function throughputResult(): ThroughputResult {
  const { kernel, variant, shape, dtype, correctness } = benchmarkResult();
  return {
    kind: "throughput",
    kernel,
    variant,
    shape,
    dtype,
    correctness,
    setting: { depth: 2, batch: 1 },
    steps: [
      {
        atMs: 50,
        setting: { depth: 1, batch: 1 },
        busyShare: 0.5,
        latencyMs: 3,
        forecast: { busyShare: 0.5, latencyMs: 3 },
        move: "deepen",
      },
    ],
    busyShare: 0.97,
    clock: "gpu-timestamp",
    submissionsPerSecond: 400,
    itemsPerSecond: 400,
    gflops: null,
    uploadedBytesPerSecond: 204_800,
    readBackBytesPerSecond: 102_400,
    latencyMs: distribution(),
    environment,
  };
}

/** A search among three candidates of `triad`, one of them wrong. */
/** Of a kernel. */
export type KernelTuningResult = TuningResult & TuningRecord;

export function tuningResult(bestMs: readonly number[] = [1, 1, 1]): KernelTuningResult {
  const { fingerprint, deviceName, software } = environment;
  return {
    kind: "tuning",
    tuning: {
      kernel: "triad",
      dtype: "float32",
      shape: { n: 60 },
      bucket: { n: 64 },
      digest: `sha256:${"1".repeat(64)}`,
      fingerprint,
      deviceName,
      software,
      clock: "runner-wall",
      best: { variant: "wide", axes: { lanes: 32 }, ms: distribution(bestMs) },
      untuned: { variant: "plain", axes: {}, ms: distribution([2, 2, 2]) },
      gain: { ratio: 2, low: null, high: null },
      candidates: 3,
      budgetMs: 1_000,
      spentMs: 800,
      complete: true,
      tunedAt: "2026-11-21T09:30:00.000Z",
    },
    trials: [
      { variant: "plain", axes: {}, outcome: "timed", reason: null, rungsMs: [[2], [2, 2, 2]] },
      { variant: "wide", axes: { lanes: 64 }, outcome: "wrong", reason: "off by one", rungsMs: [] },
      { variant: "wide", axes: { lanes: 32 }, outcome: "timed", reason: null, rungsMs: [[1], [1, 1, 1]] },
    ],
    cached: false,
    environment,
  };
}

export function calibrationResult(modelVersionId: string): CalibrationResult {
  const placement: CalibrationResult["placements"][number] = {
    deviceKey: "cpu",
    variant: "fp32",
    backend: "ort-cpu",
    agrees: true,
    maxRelativeError: 0,
    fidelity: 1,
    loadMs: 5,
    sweep: [{ rows: 1, serviceMs: distribution([0.5, 0.6, 0.7]) }],
    memory: { baseBytes: 1_000_000, bytesPerRow: 1_000 },
    environment: {
      ...environment,
      deviceKey: "cpu",
      deviceName: cpu.name,
      software: false,
      fingerprint: cpu.fingerprint,
    },
  };
  return { kind: "calibration", modelVersionId, placements: [placement], linkMs: distribution([0.2, 0.3]) };
}

export const memoryReport: MemoryReport = {
  tiers: [
    {
      tier: "disk",
      deviceKey: null,
      capacityBytes: 1_024,
      usedBytes: 512,
      items: 1,
      pinnedItems: 1,
      pinnedBytes: 512,
      hits: 2,
      misses: 1,
      evictions: 0,
      refusals: 0,
      failures: 0,
      prefetch: null,
    },
  ],
  pools: [{ deviceKey: "gpu0", counters: null }],
  migrations: [{ from: "edge", to: "host", upToBytes: 4_096, count: 1, bytes: 512, p50Ms: 3, p99Ms: 3 }],
  background: { bytesPerSecond: 1_000, waiting: 0, done: 1, skipped: 0 },
};
