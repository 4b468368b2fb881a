import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { locateUnderRoof } from "../../../src/gpu-runner/kernels/roofline/locate-under-roof.ts";
import { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import { BenchmarkSpec } from "../../../src/protocol/jobs/benchmark.ts";
import { type Peak, Roofline } from "../../../src/protocol/fleet/roofline.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";

const TIMEOUT_MS = 300_000;

let host: DeviceHost;
beforeAll(async () => {
  const logger = pino({ level: "silent" });
  host = await DeviceHost.start({ role: "gpu", deviceKey: "gpu0", cacheDir: CACHE_DIR, logger, driver: "software" });
}, TIMEOUT_MS);
afterAll(() => host.stop());

const measure = (budgetMs: number, signal?: AbortSignal) =>
  host.work("measureRoofline", { budgetMs }, TIMEOUT_MS, signal && { signal });
const peaksOf = ({ gflops, gigabytesPerSecond }: Roofline): [string, Peak][] =>
  Object.entries({ ...gflops, ...gigabytesPerSecond }).flatMap(([name, peak]) => (peak === null ? [] : [[name, peak]]));

test(
  "the roofs of the software GPU are plausible",
  async () => {
    const roofline = await measure(1_000);
    expect(Roofline.parse(roofline)).toEqual(roofline);
    // It has no halves: that peak is missing with its reason, and no other is.
    expect(peaksOf(roofline).map(([name]) => name)).toEqual(["float32", "int8", "triad", "copy", "read"]);
    expect(Object.keys(roofline.missing)).toEqual(["float16"]);
    expect(roofline.missing["float16"]).toContain("shader-f16");
    for (const [name, { value, min, max, rounds }] of peaksOf(roofline)) {
      expect(value, name).toBeGreaterThan(0);
      expect(min).toBeLessThanOrEqual(value);
      expect(max).toBeGreaterThanOrEqual(value);
      expect(rounds).toBeGreaterThan(0);
    }
  },
  TIMEOUT_MS,
);

test(
  "without any time each peak is measured in three rounds all the same, and buffers are given back",
  async () => {
    const roofline = await measure(0);
    expect(peaksOf(roofline).map(([, { rounds }]) => rounds)).toEqual([3, 3, 3, 3, 3]);
    const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad", shape: { n: 1024 }, iterations: 1 });
    const { counters } = await host.benchmark(spec);
    // Three arrays and the sizes are in use, and nothing that was measured with before.
    expect(counters?.liveBytes).toBe(3 * 4096 + 256);
  },
  TIMEOUT_MS,
);

test("measuring can be cancelled", { timeout: TIMEOUT_MS }, async () => {
  const controller = new AbortController();
  const measured = measure(60_000, controller.signal);
  controller.abort();
  await expect(measured).rejects.toMatchObject({ problem: { code: "cancelled" } });
});

test(
  "a benchmark finds its place under them: triad by memory, a long chain of multiply-adds by arithmetic",
  async () => {
    const roofline = await measure(2_000);
    const locate = async (kernel: string, shape: Record<string, number>) => {
      const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel, shape, iterations: 3 });
      return locateUnderRoof(await host.benchmark(spec), roofline);
    };
    expect(await locate("triad", { n: 2 ** 18 })).toMatchObject({ bound: "memory", unit: "GFLOP/s" });
    expect(await locate("transpose", { m: 64, n: 64 })).toMatchObject({ bound: "memory", unit: "GB/s" });
    const chain = await locate("fma-peak", { n: 2 ** 12, rounds: 512 });
    expect(chain).toMatchObject({ bound: "compute", roof: roofline.gflops.float32?.value });
    expect(chain.shareOfRoof).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
