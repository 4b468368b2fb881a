import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { seededUniform } from "../../kernels/seeded-uniform.ts";
import { DiskStore } from "../../src/gpu-runner/memory/disk-store.ts";
import { ResidencyManager } from "../../src/gpu-runner/memory/residency-manager.ts";
import type { Contender } from "../contest.ts";
import { createOrder, type OrderName } from "./access-order.ts";
import { closeOnError } from "../close-on-error.ts";
import { LruCache } from "./lru-cache.ts";

export interface PrefetchCase {
  readonly order: OrderName;
}

const ITEMS = 128;
const ITEM_BYTES = 4_096;
const ACCESSES = 512;
const CAPACITY_BYTES = 16 * ITEM_BYTES;
const AMPLE_BYTES = 1e9;

const items = Array.from({ length: ITEMS }, (_, index) => {
  const bytes = new Uint8Array(seededUniform(index + 1, 0, ITEM_BYTES / 4).buffer);
  return { digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, bytes };
});
const digests = items.map(({ digest }) => digest);

/** Expected result of each access of the first round: the first number of the item. */
export function expectedOutput({ order }: PrefetchCase): Float32Array {
  return Float32Array.from(createOrder(order, ITEMS, ACCESSES, 1), (position) =>
    firstNumberOf(items[position]?.bytes ?? new Uint8Array(4)),
  );
}

/**
 * Ours: 128 items on the disk, 16 of which fit into memory. Prefetched items have time to arrive between two accesses:
 * this measures the prediction, not a disk's speed.
 */
export const openResidency: Contender<PrefetchCase> = async ({ order }) => {
  const folder = await fillFolder();
  const visit = async (seed: number) => {
    const manager = await ResidencyManager.open({
      budgets: {
        gpuBytes: AMPLE_BYTES,
        hostBytes: CAPACITY_BYTES,
        diskBytes: AMPLE_BYTES,
        backgroundBytesPerSecond: AMPLE_BYTES,
      },
      store: new DiskStore(folder),
      source: async () => Promise.reject(new Error("all lies on the disk")),
      fileSource: async () => Promise.reject(new Error("all lies on the disk")),
      devices: [],
      logger: pino({ level: "silent" }),
    });
    try {
      await manager.keepOnly(digests);
      const output: number[] = [];
      for (const position of createOrder(order, ITEMS, ACCESSES, seed)) {
        output.push(firstNumberOf(await manager.read(digests[position] ?? "")));
        await manager.idle();
      }
      const host = (await manager.report()).tiers.find(({ tier }) => tier === "host");
      const { hits = 0, prefetch = null } = host ?? {};
      return { output, hits, wrong: prefetch?.wrong ?? 0, issued: prefetch?.issued ?? 0 };
    } finally {
      await manager.stop();
    }
  };
  return createEntry(visit, folder);
};

/** The peer: the same files behind a cache of the same size for the most recently used items. */
export const openLru: Contender<PrefetchCase> = async ({ order }) => {
  const folder = await fillFolder();
  const visit = async (seed: number) => {
    const store = new DiskStore(folder);
    await store.scan();
    const cache = new LruCache<Uint8Array>(CAPACITY_BYTES);
    const output: number[] = [];
    let hits = 0;
    for (const position of createOrder(order, ITEMS, ACCESSES, seed)) {
      const digest = digests[position] ?? "";
      let bytes = cache.get(digest);
      if (bytes === undefined) {
        bytes = (await store.read(digest)) ?? new Uint8Array(4);
        cache.set(digest, bytes, bytes.byteLength);
      } else hits++;
      output.push(firstNumberOf(bytes));
    }
    return { output, hits, wrong: 0, issued: 0 };
  };
  return createEntry(visit, folder);
};

interface Visit {
  readonly output: number[];
  readonly hits: number;
  readonly wrong: number;
  readonly issued: number;
}

/** Each round walks another order of the same pattern. */
async function createEntry(visit: (seed: number) => Promise<Visit>, folder: string) {
  let seed = 1;
  const close = () => rm(folder, { recursive: true, force: true });
  const { output } = await closeOnError(() => visit(seed), close);
  return {
    opened: { output: Float32Array.from(output), adapter: null },
    measure: async () => {
      const { hits, wrong, issued } = await visit(++seed);
      return {
        "hit rate": hits / ACCESSES,
        "miss rate": 1 - hits / ACCESSES,
        "prefetches per access": issued / ACCESSES,
        "wrong prefetches per access": wrong / ACCESSES,
      };
    },
    close,
  };
}

async function fillFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-bench-residency-"));
  const store = new DiskStore(folder);
  for (const { digest, bytes } of items) await store.write(digest, bytes);
  return folder;
}

function firstNumberOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getFloat32(0, true);
}
