import { z } from "zod";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant } from "../wire/page.ts";

/** Storage tiers, nearest to the kernels first. The edge holds the original of everything. */
export const TierName = z.enum(["gpu", "host", "disk", "edge"]).meta({ id: "TierName" });
export type TierName = z.infer<typeof TierName>;

/** Those that a runner has once; of the others there is one for each device. */
const SHARED_TIERS = TierName.exclude(["gpu"]).options;

const count = z.number().int().min(0);

/** Artifacts that a runner prefetched into a tier. */
const PrefetchState = z.object({
  pattern: z
    .enum(["sequential", "strided", "temporal"])
    .nullable()
    .meta({ description: "What the last accesses look like; null where nothing is foretold" }),
  confidence: z.number().min(0).max(1),
  depth: count.meta({ description: "Accesses that it looks ahead; 0 while it rests after wrong ones" }),
  issued: count,
  useful: count,
  wrong: count,
  accuracy: z.number().min(0).max(1).nullable().meta({ description: "useful / (useful + wrong)" }),
});

/** One tier of a runner; each GPU has one of its own. `edge` has neither capacity nor contents. */
export const MemoryTier = z
  .object({
    tier: TierName,
    deviceKey: z.string().nullable(),
    capacityBytes: z.number().nullable(),
    usedBytes: count,
    items: count,
    pinnedItems: count,
    pinnedBytes: count,
    hits: count,
    misses: count,
    evictions: count,
    refusals: count.meta({ description: "Items that were not taken in: too large, or worth less than all others" }),
    failures: count.meta({ description: "Reads that were damaged and writes that failed, such as on a full disk" }),
    prefetch: PrefetchState.nullable(),
  })
  .meta({ id: "MemoryTier" });
export type MemoryTier = z.infer<typeof MemoryTier>;

/** Buffers of one GPU; null counters where its process did not answer in time, or rests. */
export const PoolState = z
  .object({
    deviceKey: z.string(),
    counters: z
      .object({
        capBytes: count,
        liveBytes: count,
        idleBytes: count,
        peakBytes: count,
        created: count,
        reused: count,
        destroyed: count,
        refused: count,
      })
      .nullable(),
  })
  .meta({ id: "PoolState" });
export type PoolState = z.infer<typeof PoolState>;

/** Times of migrations between two tiers, of items above the next smaller class and up to `upToBytes`. */
export const MigrationTimes = z
  .object({
    from: TierName,
    to: TierName,
    upToBytes: z.number().int().nullable(),
    count,
    bytes: count,
    p50Ms: z.number(),
    p99Ms: z.number(),
  })
  .meta({ id: "MigrationTimes" });
export type MigrationTimes = z.infer<typeof MigrationTimes>;

/** Memory statistics of a runner since its start. */
export const MemoryReport = z.object({
  tiers: z.array(MemoryTier).max(LIMITS.devices + SHARED_TIERS.length),
  pools: z.array(PoolState).max(LIMITS.devices),
  migrations: z.array(MigrationTimes).max(128),
  background: z.object({
    bytesPerSecond: count.meta({ description: "What migrations behind requests may move" }),
    waiting: count,
    done: count,
    skipped: count.meta({ description: "Not begun, since too many waited" }),
  }),
});
export type MemoryReport = z.infer<typeof MemoryReport>;

/** A runner's memory report at the time of the request. */
export const RunnerMemory = MemoryReport.extend({
  runnerId: idSchema("runner"),
  reportedAt: Instant,
}).meta({ id: "RunnerMemory" });
export type RunnerMemory = z.infer<typeof RunnerMemory>;
