import { cpus } from "node:os";
import { pino } from "pino";
import { DeviceHost } from "../src/gpu-runner/device-host/device-host.ts";
import type { Bench } from "./benches.ts";
import { runContest } from "./contest.ts";
import { CACHE_DIR } from "./open-adapter.ts";
import { type EvictionCase, openIndex, openLru as openLruEviction } from "./residency/eviction-case.ts";
import { MIGRATION_METRICS, type MigrationCase, openMigrations } from "./residency/migration-case.ts";
import { expectedOutput as expectedMigrations } from "./residency/migration-case.ts";
import { expectedOutput, openLru, openResidency, type PrefetchCase } from "./residency/prefetch-case.ts";

const KiB = 2 ** 10;
const MIGRATIONS = [
  { name: "4 KiB", input: { sizeBytes: 4 * KiB, repeats: 200 } },
  { name: "64 KiB", input: { sizeBytes: 64 * KiB, repeats: 100 } },
  { name: "1 MiB", input: { sizeBytes: 1024 * KiB, repeats: 30 } },
  { name: "16 MiB", input: { sizeBytes: 16 * 1024 * KiB, repeats: 5 } },
] as const;
const ORDERS = ["sequential", "strided", "temporal", "random"] as const;
const EVICTIONS = [
  { name: "Zipf 0.9, a tenth fits", input: { skew: 0.9, share: 0.1 } },
  { name: "Zipf 0.7, a quarter fits", input: { skew: 0.7, share: 0.25 } },
] as const;

const HIGHER = { unit: "share", better: "higher" } as const;
const LOWER = { unit: "share", better: "lower" } as const;
const PER_ACCESS = { unit: "count", better: "lower", oursOnly: true } as const;

/** Migrations between a runner's tiers, the hits of prefetching and of eviction, both against LRU. */
export const benchResidency: Bench = async function* benchResidency(context) {
  const processor = { name: cpus()[0]?.model.trim() ?? "unknown", software: false };
  yield* runContest<PrefetchCase>(
    {
      metrics: {
        "hit rate": HIGHER,
        "miss rate": LOWER,
        "prefetches per access": PER_ACCESS,
        "wrong prefetches per access": PER_ACCESS,
      },
      cases: ORDERS.map((order) => ({ name: `prefetch, ${order}`, input: { order } })),
      device: processor,
      ours: openResidency,
      peers: { lru: openLru },
      check: (input, output) => assertSame(expectedOutput(input), output),
    },
    context,
  );
  yield* runContest<EvictionCase>(
    {
      metrics: { "hit rate": HIGHER, "byte hit rate": HIGHER, "fetching per access": { unit: "ms", better: "lower" } },
      cases: EVICTIONS.map(({ name, input }) => ({ name: `eviction, ${name}`, input })),
      device: processor,
      ours: openIndex,
      peers: { lru: openLruEviction },
      check: (_, fill) => {
        if (!fill.every((share) => share <= 1) || !fill.some((share) => share > 0.5))
          throw new Error("it is overfull or idle");
      },
    },
    context,
  );
  const logger = pino({ level: "silent" });
  const host = await DeviceHost.start({ role: "gpu", deviceKey: "gpu0", cacheDir: CACHE_DIR, logger });
  try {
    yield* runContest<MigrationCase>(
      {
        metrics: MIGRATION_METRICS,
        cases: MIGRATIONS,
        device: { name: host.device.name, software: host.device.software },
        ours: openMigrations(host),
        peers: {},
        check: (input, output) => assertSame(expectedMigrations(input), output),
      },
      context,
    );
  } finally {
    await host.stop();
  }
};

/** Stored bytes must be identical: there is no tolerance. */
function assertSame(expected: Float32Array, output: Float32Array): void {
  if (output.length !== expected.length) throw new Error(`it has ${output.length} numbers, not ${expected.length}`);
  const wrong = output.findIndex((value, index) => value !== expected[index]);
  if (wrong >= 0) throw new Error(`number ${wrong} is ${output[wrong]}, not ${expected[wrong]}`);
}
