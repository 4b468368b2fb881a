import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../src/gpu-runner/config.ts";
import { DeviceFleet } from "../../src/gpu-runner/serving/device-fleet.ts";
import { CACHE_DIR } from "../kernels/software-gpu-cache.ts";

let fleet: DeviceFleet;
beforeAll(async () => {
  const config = readConfig({ MILLRACE_RUNNER_DIR: CACHE_DIR, MILLRACE_GPU: "software" });
  fleet = await DeviceFleet.start(config, pino({ level: "silent" }));
});
afterAll(() => fleet.stop());

test("a kernel that GPU and CPU have is announced once, with the variants of both", () => {
  const names = fleet.kernels.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const population = fleet.kernels.find(({ name }) => name === "mlp-population");
  expect(population?.variants).toEqual(["sample-per-lane", "sample-per-group", "cpu-simd"]);
});

test("the GPU is taken, and the CPU where its variant is asked for", () => {
  expect(fleet.withKernel("mlp-population").host.device.key).toBe("gpu0");
  expect(fleet.withKernel("mlp-population", { variant: "sample-per-group" }).host.device.key).toBe("gpu0");
  expect(fleet.withKernel("mlp-population", { variant: "cpu-simd" }).host.device.key).toBe("cpu");
  expect(() => fleet.withKernel("no-such-kernel")).toThrow("no kernel no-such-kernel");
});
