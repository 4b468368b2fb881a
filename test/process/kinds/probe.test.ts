import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import { readHardware } from "../../../src/gpu-runner/host/hardware/read-hardware.ts";
import { runProbe } from "../../../src/gpu-runner/kinds/probe/run-probe.ts";
import type { Device, Hardware } from "../../../src/protocol/fleet/hardware.ts";
import { ProbeResult, ProbeSpec } from "../../../src/protocol/jobs/probe.ts";
import { DeviceFleet } from "../../../src/gpu-runner/serving/device-fleet.ts";
import { FailureFile } from "../../../src/gpu-runner/device-host/failure-file.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";

const TIMEOUT_MS = 600_000;
const logger = pino({ level: "silent" });

let hardware: Hardware;
let cpu: DeviceHost;
let gpu: DeviceHost;
beforeAll(async () => {
  const shared = { cacheDir: CACHE_DIR, logger, memoryBytes: 512 * 2 ** 20 };
  [hardware, cpu, gpu] = await Promise.all([
    readHardware(),
    DeviceHost.start({ role: "cpu", deviceKey: "cpu", ...shared }),
    DeviceHost.start({ role: "gpu", deviceKey: "gpu0", driver: "software", ...shared }),
  ]);
}, TIMEOUT_MS);
afterAll(() => Promise.all([cpu.stop(), gpu.stop()]));

const run = async (spec: object, phases: string[] = []) => {
  const context = {
    hardware,
    fleet: new DeviceFleet([cpu, gpu], new FailureFile(CACHE_DIR, logger)),
    otherJobs: 0,
    signal: new AbortController().signal,
    onProgress: ({ phase }: { phase: string }) => phases.push(phase),
  };
  const { result, deviceKey } = await runProbe(
    ProbeSpec.parse({ kind: "probe", timeoutMs: TIMEOUT_MS, ...spec }),
    context as never,
  );
  return { result: ProbeResult.parse(result), deviceKey };
};
const probe = (host: DeviceHost, claimed: Device, machine = hardware) =>
  host.workApart("probe", { claimed, hardware: machine }, TIMEOUT_MS, "device-lost");
const failed = (claims: ProbeResult["claims"]) => claims.filter(({ ok }) => !ok).map(({ claim }) => claim);

describe("a probe of the software GPU", () => {
  test("finds every claim of an honest runner to hold", { timeout: TIMEOUT_MS }, async () => {
    const phases: string[] = [];
    const { result, deviceKey } = await run({}, phases);
    expect(deviceKey).toBe("gpu0");
    expect(result.claims.filter(({ ok }) => !ok)).toEqual([]);
    expect(result.ok).toBe(true);
    expect(result.environment.software).toBe(true);
    expect(result.claims.map(({ claim }) => claim)).toEqual([
      "adapter",
      "software",
      "features",
      "integer arithmetic",
      "float arithmetic",
      "atomics",
      "subgroups",
      "timestamp-query",
      "timestampQuantised",
      "maxComputeInvocationsPerWorkgroup",
      "maxComputeWorkgroupSizeX",
      "maxComputeWorkgroupSizeY",
      "maxComputeWorkgroupSizeZ",
      "maxComputeWorkgroupStorageSize",
      "maxComputeWorkgroupsPerDimension",
      "maxStorageBufferBindingSize",
      "memory",
    ]);
    expect(phases).toEqual(result.claims.map(({ claim }) => claim));
  });

  test("finds what a runner claims that is not so", { timeout: TIMEOUT_MS }, async () => {
    const { device } = gpu;
    const peak = { kernel: "fma-peak", variant: "two-vectors", axes: {}, shape: {}, clock: "runner-wall" } as const;
    const claimed: Device = {
      ...device,
      software: false,
      fingerprint: { ...device.fingerprint, adapter: "nvidia hopper nvidia-h100" },
      features: [...device.features, "shader-f16"],
      limits: {
        ...device.limits,
        maxComputeInvocationsPerWorkgroup: 4_096,
        maxComputeWorkgroupStorageSize: 2 ** 20,
        maxStorageBufferBindingSize: 2 ** 40,
      },
      roofline: {
        measuredAt: "2026-11-21T12:00:00.000Z",
        tookMs: 1,
        loadAverage: 0,
        gflops: { float32: { ...peak, value: 60_000, rounds: 3, min: 1, max: 1 }, float16: null, int8: null },
        gigabytesPerSecond: { triad: null, copy: null, read: null },
        missing: {},
      },
    };
    // An emulation's share of a core depends on other load.
    const told = failed(await probe(gpu, claimed)).filter((claim) => claim !== "computes by itself");
    expect(told).toEqual([
      "adapter",
      "software",
      "features",
      "shader-f16",
      "maxComputeInvocationsPerWorkgroup",
      "maxComputeWorkgroupStorageSize",
      "maxStorageBufferBindingSize",
      "speed: float32",
    ]);
  });

  test("that takes too long fails", { timeout: TIMEOUT_MS }, async () => {
    await expect(run({ deviceKey: "gpu0", timeoutMs: 1_000 })).rejects.toMatchObject({
      problem: { code: "kernel-timeout" },
    });
  });
});

describe("a probe of the CPU", () => {
  test("finds every claim of an honest runner to hold", { timeout: TIMEOUT_MS }, async () => {
    const { result, deviceKey } = await run({ deviceKey: "cpu" });
    expect(deviceKey).toBe("cpu");
    expect(result.claims.filter(({ ok }) => !ok)).toEqual([]);
    expect(result.claims.map(({ claim }) => claim).slice(0, 4)).toEqual([
      "ort-cpu",
      "cpu-simd",
      "logical cores",
      "cores at work",
    ]);
  });

  test("finds cores and instructions that are not there", { timeout: TIMEOUT_MS }, async () => {
    const claimed: Hardware = {
      ...hardware,
      cpu: { ...hardware.cpu, logicalCores: 4_096, instructionSets: [{ name: "SVE2", parts: [] }] },
      container: { cores: null, memoryBytes: null },
    };
    expect(failed(await probe(cpu, cpu.device, claimed))).toEqual(expect.arrayContaining(["logical cores", "SVE2"]));
  });
});
