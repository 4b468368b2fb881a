import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { KERNELS } from "../../kernels/registry.ts";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { BenchmarkSpec } from "../../src/protocol/jobs/benchmark.ts";

let cacheDir: string;
let host: DeviceHost;

beforeAll(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), "millrace-device-"));
  host = await DeviceHost.start({ role: "gpu", deviceKey: "gpu0", cacheDir, logger: pino({ level: "silent" }) });
});
afterAll(async () => {
  await host.stop();
  await rm(cacheDir, { recursive: true, force: true });
});

it("finds a real GPU", () => {
  expect(host.device).toMatchObject({ kind: "gpu", software: false });
});

it.each([...KERNELS])("runs %s correctly, or lacks a feature for it", async (kernel, { features = [] }) => {
  const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel, iterations: 20 });
  if (features.some((feature) => !host.device.features.includes(feature))) {
    await expect(host.benchmark(spec)).rejects.toMatchObject({ problem: { code: "kernel-invalid" } });
    return;
  }
  const measured = await host.benchmark(spec);
  expect(measured.correctness.correct).toBe(true);
  console.log(
    JSON.stringify({
      device: host.device.name,
      kernel,
      shape: measured.shape,
      p50Ms: measured.wallMs.p50,
      gflops: measured.gflops,
      gigabytesPerSecond: measured.gigabytesPerSecond,
    }),
  );
});
