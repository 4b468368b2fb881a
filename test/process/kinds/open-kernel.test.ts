/** A kernel as a subject of load, on a real device process with a real driver. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { DeviceFleet } from "../../../src/gpu-runner/serving/device-fleet.ts";
import { FailureFile } from "../../../src/gpu-runner/device-host/failure-file.ts";
import { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import { openKernelSystem } from "../../../src/gpu-runner/kinds/validation/open-kernel-system.ts";
import { openLoadClock } from "../../../src/gpu-runner/kinds/validation/open-load-clock.ts";
import { runScenario } from "../../../src/gpu-runner/kinds/validation/run-scenario.ts";
import { ScenarioInput } from "../../../src/protocol/models/scenario.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";
import { problemOf } from "../problem-of.ts";

const TIMEOUT_MS = 300_000;
const logger = pino({ level: "silent" });
const shared = { role: "gpu", driver: "software", cacheDir: CACHE_DIR, logger } as const;

let cpu: DeviceHost;
let sound: DeviceHost;
let faulty: DeviceHost;
let folder = "";
let fleet: DeviceFleet;
beforeAll(async () => {
  const entry = new URL("../faulty/faulty-device.ts", import.meta.url);
  [cpu, sound, faulty] = await Promise.all([
    DeviceHost.start({ ...shared, role: "cpu", deviceKey: "cpu" }),
    DeviceHost.start({ deviceKey: "gpu0", ...shared }),
    DeviceHost.start({ deviceKey: "gpu1", entry, ...shared }),
  ]);
}, TIMEOUT_MS);
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "millrace-open-kernel-"));
  fleet = new DeviceFleet([cpu, sound, faulty], new FailureFile(folder, logger));
  return () => rm(folder, { recursive: true });
});
afterAll(() => Promise.all([cpu.stop(), sound.stop(), faulty.stop()]));

function open(kernel: string, shape: Record<string, number> = {}, deviceKey: string | null = null) {
  const tunings = { find: async () => null } as never;
  const context = { fleet, tunings, signal: new AbortController().signal, onProgress: () => {} };
  return openKernelSystem(context, { kind: "kernel", kernel, shape }, deviceKey);
}

const liveBytes = async () => (await sound.readPool(new AbortController().signal))!.liveBytes;

test(
  "a kernel is open, checked, under every scenario, and gives its buffers back",
  async () => {
    const before = await liveBytes();
    const system = await open("gemm", { m: 16, n: 16, k: 16 });
    expect(system).toMatchObject({
      deviceKey: "gpu0",
      faults: [],
      correctness: { correct: true, checkedElements: 256 },
    });
    expect(system.gpuBytes).toBeGreaterThanOrEqual(3 * 4 * 256);
    expect((await liveBytes()) - before).toBe(system.gpuBytes);
    const clock = await openLoadClock();
    const signal = new AbortController().signal;
    const options = {
      clock,
      seed: 1,
      signal,
      deadlineMs: clock.now() + 200_000,
      onProgress: () => {},
      percentiles: [],
    };
    for (const input of [
      { kind: "singleStream", minDurationMs: 100 },
      { kind: "multiStream", minDurationMs: 100, minQueries: 20 },
      { kind: "server", boundMs: 10_000, ratePerS: 50, minDurationMs: 100, minQueries: 20 },
      { kind: "offline", samples: 50 },
    ]) {
      const { result } = await runScenario(ScenarioInput.parse(input), "runner", system, options);
      expect(result).toMatchObject({ errors: 0, errorCodes: {} });
      expect(result.samples).toBeGreaterThanOrEqual(20);
      expect(result.latencyMs?.min).toBeGreaterThan(0);
    }
    await clock.close();
    await system.close();
    expect(await liveBytes()).toBe(before);
    expect((await problemOf(system.query(1))).code).toBe("device-lost");
  },
  TIMEOUT_MS,
);

test(
  "a population is open on the CPU, on one thread or on all",
  async () => {
    for (const members of [2, 4_096]) {
      const shape = { members, samples: 2, inputs: 16, hidden: 16, outputs: 4 };
      const system = await open("mlp-population", shape, "cpu");
      expect(system).toMatchObject({ deviceKey: "cpu", variant: "cpu-simd", correctness: { correct: true } });
      await Promise.all([system.query(1), system.query(system.maxSamples)]);
      await system.close();
      expect((await problemOf(system.query(1))).code).toBe("device-lost");
    }
    expect((await problemOf(open("mlp-population", { members: 2 ** 24 }, "cpu"))).code).toBe("invalid-request");
  },
  TIMEOUT_MS,
);

test(
  "what is wrong, or needs another device, is not opened",
  async () => {
    expect((await problemOf(open("not-twos"))).code).toBe("kernel-incorrect");
    expect((await problemOf(open("invalid"))).code).toBe("kernel-invalid");
    expect((await problemOf(open("gemm", { rows: 3 }))).code).toBe("invalid-request");
    expect((await problemOf(open("no-such-kernel"))).code).toBe("unknown-kernel");
  },
  TIMEOUT_MS,
);

test(
  "a process that dies under a load is reported by every later query",
  async () => {
    const system = await open("ones", {}, "gpu1");
    const first = await problemOf(
      (async () => {
        for (let asked = 0; ; asked++) {
          if (asked === 1) process.kill(faulty.pid!, "SIGSEGV");
          await system.query(1);
        }
      })(),
    );
    expect(first.code).toBe("device-lost");
    expect((await problemOf(system.query(1))).code).toBe("device-lost");
    await system.close();
  },
  TIMEOUT_MS,
);
