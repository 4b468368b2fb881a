import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { DiskStore } from "../../src/gpu-runner/memory/disk-store.ts";
import type { MemoryBudgets } from "../../src/gpu-runner/config.ts";
import { ResidencyManager } from "../../src/gpu-runner/memory/residency-manager.ts";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { MemoryReport, type TierName } from "../../src/protocol/fleet/memory.ts";
import { BenchmarkSpec } from "../../src/protocol/jobs/benchmark.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import { KernelInput } from "../../src/protocol/kernels/submitted-kernel.ts";
import { competitor } from "../edge/stack/kernel-samples.ts";
import { CACHE_DIR } from "../kernels/software-gpu-cache.ts";
import { createRandom, createSource } from "../unit/gpu-runner/memory/artifacts.ts";
import { problemOf } from "./problem-of.ts";

const LIMIT_MS = 60_000;
const MiB = 2 ** 20;
/** Odd, so that the last word is a partial one; a MiB on the device. */
const SIZE = MiB - 5;
const weights = Array.from({ length: 8 }, (_, seed) => createRandom(seed + 1, SIZE));
const small = Array.from({ length: 20 }, (_, seed) => createRandom(seed + 100, 4_096));
const logger = pino({ level: "silent" });
const memoryBytes = 16 * MiB;

let host: DeviceHost;
beforeAll(async () => {
  const options = { role: "gpu", deviceKey: "gpu0", cacheDir: CACHE_DIR, logger, driver: "software" } as const;
  host = await DeviceHost.start({ ...options, memoryBytes });
});
afterAll(() => host.stop());

let folder = "";
const opened: ResidencyManager[] = [];
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "millrace-gpu-residency-"));
});
afterEach(async () => {
  for (const manager of opened.splice(0)) await manager.stop();
  for (const { digest } of weights) await host.work("dropResident", { key: digest }, LIMIT_MS);
  await rm(folder, { recursive: true, force: true });
});

async function openManager(changes: Partial<MemoryBudgets> = {}) {
  const { asked, source, fileSource } = createSource([...weights, ...small]);
  const plain = { gpuBytes: 8 * MiB, hostBytes: 64 * MiB, diskBytes: 64 * MiB, backgroundBytesPerSecond: 1e9 };
  const budgets = { ...plain, ...changes };
  const manager = await ResidencyManager.open({
    budgets,
    store: new DiskStore(folder),
    source,
    fileSource,
    devices: [host],
    logger,
  });
  opened.push(manager);
  /** Reads weights back from the device, where they have to lie. */
  const fetchFromDevice = (digest: string) =>
    manager.useOnDevice(digest, "gpu0", () => host.work("readResident", { key: digest }, LIMIT_MS));
  const tier = async (name: TierName) =>
    MemoryReport.parse(await manager.report()).tiers.find((each) => each.tier === name);
  return { manager, asked, fetchFromDevice, tier };
}

const digestOf = (index: number) => weights[index]?.digest ?? "";

test("bytes of any length come back from the device as they went", async () => {
  for (const sizeBytes of [0, 1, 3, 4, 255, 256, 257, 70_001]) {
    const { bytes } = createRandom(sizeBytes + 1, sizeBytes);
    await host.work("putResident", { key: "odd", bytes }, LIMIT_MS);
    const back = await host.work("readResident", { key: "odd" }, LIMIT_MS);
    expect(Buffer.compare(back, bytes), String(sizeBytes)).toBe(0);
  }
  await host.work("dropResident", { key: "odd" }, LIMIT_MS);
  expect((await problemOf(host.work("readResident", { key: "odd" }, LIMIT_MS))).code).toBe("not-found");
});

describe("weights", () => {
  test("are uploaded once and then lie on the device", async () => {
    const { manager, asked, fetchFromDevice, tier } = await openManager();
    for (let use = 0; use < 3; use++) {
      expect(Buffer.compare(await fetchFromDevice(digestOf(0)), weights[0]?.bytes ?? Buffer.of())).toBe(0);
    }
    expect(asked).toEqual([digestOf(0)]);
    expect(await tier("gpu")).toMatchObject({
      deviceKey: "gpu0",
      capacityBytes: 4 * MiB,
      usedBytes: MiB,
      items: 1,
      hits: 2,
      misses: 1,
    });
    const { migrations, pools } = await manager.report();
    expect(migrations).toContainEqual(expect.objectContaining({ from: "host", to: "gpu", upToBytes: MiB, count: 1 }));
    expect(pools).toEqual([{ deviceKey: "gpu0", counters: expect.objectContaining({ capBytes: memoryBytes }) }]);
    expect(pools[0]?.counters?.liveBytes).toBeGreaterThanOrEqual(MiB);
  });

  test("are uploaded again when the device's process was killed", async () => {
    const { asked, fetchFromDevice, tier } = await openManager();
    await fetchFromDevice(digestOf(0));
    await fetchFromDevice(digestOf(1));
    const { pid, restarts } = host;
    process.kill(pid ?? Number.NaN, "SIGKILL");
    await vi.waitFor(() => expect(host.restarts).toBe(restarts + 1), LIMIT_MS);
    expect(await tier("gpu")).toMatchObject({ items: 0, usedBytes: 0, evictions: 0 });
    expect(Buffer.compare(await fetchFromDevice(digestOf(1)), weights[1]?.bytes ?? Buffer.of())).toBe(0);
    expect(await tier("gpu")).toMatchObject({ items: 1, usedBytes: MiB, misses: 3 });
    // Memory survived: nothing was fetched again.
    expect(asked).toHaveLength(2);
  });

  test("that a device lost while they were used are there for the next user", async () => {
    const { manager, fetchFromDevice } = await openManager();
    const lost = manager.useOnDevice(digestOf(0), "gpu0", async () => {
      process.kill(host.pid ?? Number.NaN, "SIGKILL");
      return host.work("readResident", { key: digestOf(0) }, LIMIT_MS);
    });
    expect(["device-lost", "not-found"]).toContain((await problemOf(lost)).code);
    expect(Buffer.compare(await fetchFromDevice(digestOf(0)), weights[0]?.bytes ?? Buffer.of())).toBe(0);
  });

  test("give way to others within the device's budget, but not while they are used", async () => {
    const { manager, fetchFromDevice, tier } = await openManager();
    await manager.useOnDevice(digestOf(0), "gpu0", async () => {
      for (let index = 1; index < 8; index++) {
        await fetchFromDevice(digestOf(index));
        expect((await tier("gpu"))?.usedBytes).toBeLessThanOrEqual(4 * MiB);
      }
      const back = await host.work("readResident", { key: digestOf(0) }, LIMIT_MS);
      expect(Buffer.compare(back, weights[0]?.bytes ?? Buffer.of())).toBe(0);
    });
    await manager.idle();
    const state = await tier("gpu");
    expect(state?.evictions).toBeGreaterThanOrEqual(4);
    // Items evicted from the tier left the device.
    const pool = (await manager.report()).pools[0]?.counters;
    expect(pool?.liveBytes).toBeLessThan(((state?.items ?? 0) + 1) * MiB);
  });

  test("that all are in use leave no room for one more", async () => {
    const { manager, fetchFromDevice } = await openManager({ gpuBytes: 2 * MiB });
    await manager.useOnDevice(digestOf(0), "gpu0", async () => {
      expect(await problemOf(fetchFromDevice(digestOf(1)))).toMatchObject({ code: "out-of-memory", status: 507 });
    });
    await fetchFromDevice(digestOf(1));
  });

  test("come from the device where nothing nearer has them", async () => {
    const { manager, asked, fetchFromDevice } = await openManager({ hostBytes: 100, diskBytes: 100 });
    await fetchFromDevice(digestOf(0));
    expect(asked).toHaveLength(1);
    expect(Buffer.compare(await manager.read(digestOf(0)), weights[0]?.bytes ?? Buffer.of())).toBe(0);
    expect(asked).toHaveLength(1);
    const { migrations } = await manager.report();
    expect(migrations).toContainEqual(expect.objectContaining({ from: "gpu", to: "host", count: 1 }));
  });

  test("in a sequence are on the device before they are used", async () => {
    const { manager, tier } = await openManager();
    await manager.keepOnly(small.map(({ digest }) => digest));
    for (const { digest } of small) {
      await manager.useOnDevice(digest, "gpu0", async () => null);
      await manager.idle();
    }
    const state = await tier("gpu");
    expect(state?.prefetch).toMatchObject({ pattern: "sequential", wrong: 0, accuracy: 1 });
    expect(state?.hits).toBeGreaterThan(8);
    for (const { digest } of small) await host.work("dropResident", { key: digest }, LIMIT_MS);
  });

  test("of a device that is not there are refused", async () => {
    const { manager } = await openManager();
    expect((await problemOf(manager.useOnDevice(digestOf(0), "gpu7", async () => null))).code).toBe("backend-failed");
  });
});

test("a submitted kernel's process gets what the device's own leaves of the cap", async () => {
  const dimensions = [{ name: "n", min: 1, max: MiB, default: MiB / 2 }];
  const program = {
    id: createId("kernel"),
    definition: KernelInput.parse({ ...competitor, dimensions }),
    reference: null,
  };
  const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: program.id, iterations: 1, warmup: 0 });
  // Buffers that wait for reuse there do not block it.
  await host.benchmark(
    BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad", shape: { n: MiB / 2 }, iterations: 1 }),
  );
  expect((await host.benchmarkProgram(spec, program)).correctness.correct).toBe(true);
  await host.work("putResident", { key: "large", bytes: new Uint8Array(12 * MiB) }, LIMIT_MS);
  expect((await problemOf(host.benchmarkProgram(spec, program))).code).toBe("out-of-memory");
  await host.work("dropResident", { key: "large" }, LIMIT_MS);
  expect((await host.benchmarkProgram(spec, program)).correctness.correct).toBe(true);
});

test("a benchmark that does not fit under the cap is refused for that, leaves nothing behind, and the next one runs", async () => {
  const live = async () => (await host.readPool(AbortSignal.timeout(LIMIT_MS)))?.liveBytes;
  const before = await live();
  const spec = { kind: "benchmark", kernel: "triad", iterations: 2, warmup: 0 };
  const large = BenchmarkSpec.parse({ ...spec, shape: { n: 4 * MiB } });
  const problem = await problemOf(host.benchmark(large));
  expect(problem).toMatchObject({ code: "out-of-memory", detail: expect.stringContaining(String(memoryBytes)) });
  expect(await live()).toBe(before);
  const little = BenchmarkSpec.parse({ ...spec, shape: { n: 1_000 } });
  expect((await host.benchmark(little)).correctness.correct).toBe(true);
});
