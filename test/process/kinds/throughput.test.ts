import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";
import { ThroughputResult, ThroughputSpec } from "../../../src/protocol/jobs/throughput.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";
import { abortWithoutGrace } from "../abort-without-grace.ts";

const TIMEOUT_MS = 300_000;
/** Longer than a machine stands still: the controller takes steps before that, or behind it. */
const ADAPT_MS = 6_000;

function startHost(changes: { memoryBytes?: number } = {}): Promise<DeviceHost> {
  const options = { role: "gpu", deviceKey: "gpu0", cacheDir: CACHE_DIR, driver: "software" } as const;
  return DeviceHost.start({ ...options, logger: pino({ level: "silent" }), ...changes });
}

let host: DeviceHost;
beforeAll(async () => {
  host = await startHost();
}, TIMEOUT_MS);
afterAll(() => host.stop());

function stream(changes: object, options: Parameters<DeviceHost["work"]>[3] = {}, on = host) {
  const short = { intervalMs: 50, adaptMs: 400, measureMs: 200 };
  const spec = ThroughputSpec.parse({ kind: "throughput", ...short, ...changes });
  return on.work("stream", { spec }, spec.timeoutMs, options);
}

test(
  "a stream comes back checked, with every step of its controller",
  async () => {
    const phases = new Set<string>();
    const shape = { batch: 3, inputs: 5, hidden: 16, outputs: 2 };
    const onProgress = ({ phase }: { phase: string }) => phases.add(phase);
    const { latenciesMs, ...measured } = await stream(
      { kernel: "mlp", shape, mode: "aggressive", adaptMs: ADAPT_MS },
      { onProgress },
    );
    expect([...phases]).toEqual(["adapt", "measure"]);
    expect(ThroughputResult.omit({ kind: true, environment: true }).parse(measured)).toEqual(measured);
    expect(measured).toMatchObject({ kernel: "mlp", clock: "gpu-timestamp", correctness: { correct: true } });
    expect(measured.steps[0]).toMatchObject({ setting: { depth: 1, batch: 3 } });
    // Three samples cannot keep a device busy.
    expect(measured.steps.some(({ move }) => move !== "hold")).toBe(true);
    expect(measured.shape).toMatchObject({ ...shape, batch: measured.setting.batch });
    expect(measured.correctness.checkedElements).toBe(2 * measured.setting.batch);
    for (const { busyShare } of [measured, ...measured.steps]) {
      expect(busyShare).toBeGreaterThan(0);
      expect(busyShare).toBeLessThanOrEqual(1);
    }
    expect(measured.itemsPerSecond).toBeCloseTo(measured.submissionsPerSecond * measured.setting.batch, 6);
    expect(measured.readBackBytesPerSecond).toBeGreaterThanOrEqual(4 * 2 * measured.itemsPerSecond);
    expect(measured.latencyMs.count).toBeGreaterThanOrEqual(3);
    expect(summarise(latenciesMs)).toEqual(measured.latencyMs);
  },
  TIMEOUT_MS,
);

test(
  "several outputs each meet their own reference, and a kernel without a batch keeps its shape",
  async () => {
    const shape = { n: 1_000 };
    const measured = await stream({ kernel: "transform-filter", shape });
    expect(measured).toMatchObject({ shape, setting: { batch: 1 } });
    // The kept elements and their count.
    expect(measured.correctness).toMatchObject({ correct: true, checkedElements: shape.n + 1 });
  },
  TIMEOUT_MS,
);

test(
  "no more is in flight than was allowed, and a budget that cannot be kept ends at the least",
  async () => {
    const spec = { kernel: "mlp", shape: { batch: 8 }, maxDepth: 2, latencyBudgetMs: 0.1 };
    const { steps, setting } = await stream({ ...spec, adaptMs: 2 * ADAPT_MS });
    expect(steps.every(({ setting: { depth } }) => depth <= 2)).toBe(true);
    expect(setting).toEqual({ depth: 1, batch: 1 });
  },
  TIMEOUT_MS,
);

test(
  "a cancelled stream ends, and its process lives on",
  async () => {
    const { pid } = host;
    const controller = new AbortController();
    const outcome = stream(
      { kernel: "gemm", shape: { m: 64, n: 64, k: 64 }, adaptMs: 60_000 },
      { signal: controller.signal, onProgress: () => abortWithoutGrace(controller) },
    );
    await expect(outcome).rejects.toThrow(ProblemError);
    await expect(outcome).rejects.toMatchObject({ problem: { code: "cancelled" } });
    expect((await stream({ kernel: "triad", shape: { n: 100 } })).correctness.correct).toBe(true);
    expect(host.pid).toBe(pid);
  },
  TIMEOUT_MS,
);

describe("with little memory", () => {
  const memoryBytes = 4 * 2 ** 20;
  let small: DeviceHost;
  beforeAll(async () => {
    small = await startHost({ memoryBytes });
  }, TIMEOUT_MS);
  afterAll(() => small.stop());
  const liveBytes = async () => (await small.readPool(AbortSignal.timeout(TIMEOUT_MS)))?.liveBytes;

  test(
    "a stream stays at the setting before the one that did not fit",
    async () => {
      // A submission takes a little over 2 MiB, and so does its neighbour.
      const shape = { rows: 8, columns: 2 ** 14 };
      const spec = { kernel: "softmax", shape, mode: "aggressive", targetBusyShare: 0.99, adaptMs: ADAPT_MS };
      const { steps, setting } = await stream(spec, {}, small);
      const grown = steps.filter(({ move }) => move === "deepen" || move === "widen");
      expect(grown.length).toBeGreaterThan(0);
      expect(setting).toEqual({ depth: 1, batch: 8 });
      expect(await liveBytes()).toBe(0);
    },
    TIMEOUT_MS,
  );

  test(
    "a stream whose staging does not fit is refused for that, and gives its buffers back",
    async () => {
      // Three arrays of 1 MiB fit, and the copy of the third does not.
      const outcome = stream({ kernel: "triad", shape: { n: 2 ** 18 } }, {}, small);
      await expect(outcome).rejects.toMatchObject({ problem: { code: "out-of-memory" } });
      expect(await liveBytes()).toBe(0);
    },
    TIMEOUT_MS,
  );
});
