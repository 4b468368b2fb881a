import { seededUniform } from "../../kernels/seeded-uniform.ts";
import { TierIndex } from "../../src/gpu-runner/memory/tier-index.ts";
import type { Contender } from "../contest.ts";
import { type Access, CacheBooks } from "./cache-books.ts";
import { LruCache } from "./lru-cache.ts";

export interface EvictionCase {
  /** Exponent of Zipf's law: the item of rank r is accessed in proportion to 1 / r^skew. */
  readonly skew: number;
  /** Capacity as a share of all bytes. */
  readonly share: number;
}

interface Item {
  readonly key: string;
  readonly sizeBytes: number;
  readonly costMs: number;
}

const ITEMS = 1_000;
const ACCESSES = 20_000;
const SMALLEST_BYTES = 4 * 2 ** 10;
const LARGEST_BYTES = 16 * 2 ** 20;

/** A cache as a trace sees it: a missing item may be present afterwards. */
type Cache = (item: Item) => Access;

/** Ours: the index that decides for every tier of a runner. */
export const openIndex: Contender<EvictionCase> = async (input) =>
  createEntry(input, (capacityBytes) => {
    const index = new TierIndex(capacityBytes);
    return (item) => {
      if (!index.has(item.key)) return index.admit(item, item.costMs);
      index.touch(item.key, item.costMs);
      return "hit";
    };
  });

/** The peer: the same bytes for the most recently used items. */
export const openLru: Contender<EvictionCase> = async (input) =>
  createEntry(input, (capacityBytes) => {
    const cache = new LruCache<true>(capacityBytes);
    return ({ key, sizeBytes }) => (cache.get(key) === undefined ? cache.set(key, true, sizeBytes) : "hit");
  });

/** The output is the cache's fill after each access by our own record, as a share of its capacity. */
function createEntry({ skew, share }: EvictionCase, createCache: (capacityBytes: number) => Cache) {
  const visit = (seed: number) => {
    const items = createItems(seed);
    const capacityBytes = share * items.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const cache = createCache(capacityBytes);
    const books = new CacheBooks();
    const fill: number[] = [];
    const total = { hits: 0, hitBytes: 0, bytes: 0, costMs: 0 };
    for (const item of createTrace(items, skew, seed)) {
      const access = cache(item);
      books.enter(item, access);
      total.bytes += item.sizeBytes;
      if (access === "hit") {
        total.hits++;
        total.hitBytes += item.sizeBytes;
      } else total.costMs += item.costMs;
      fill.push(books.usedBytes / capacityBytes);
    }
    return { fill, ...total };
  };
  let seed = 1;
  return {
    opened: { output: Float32Array.from(visit(seed).fill), adapter: null },
    measure: async () => {
      const { hits, hitBytes, bytes, costMs } = visit(++seed);
      return {
        "hit rate": hits / ACCESSES,
        "byte hit rate": hitBytes / bytes,
        "fetching per access": costMs / ACCESSES,
      };
    },
    close: async () => {},
  };
}

/** Sizes are log-uniform from 4 KiB to 16 MiB; half of the items come from a disk, half from an edge afar. */
function createItems(seed: number): Item[] {
  const sizes = seededUniform(seed, 1, ITEMS);
  const places = seededUniform(seed, 2, ITEMS);
  return Array.from({ length: ITEMS }, (_, index) => {
    const exponent = ((sizes[index] ?? 0) + 1) / 2;
    const sizeBytes = Math.round(SMALLEST_BYTES * (LARGEST_BYTES / SMALLEST_BYTES) ** exponent);
    const isNear = (places[index] ?? 0) < 0;
    const costMs = isNear ? 0.5 + sizeBytes / 200_000 : 50 + sizeBytes / 10_000;
    return { key: String(index), sizeBytes, costMs };
  });
}

/** Draws items by Zipf's law over their numbers, which are independent of size and cost. */
function createTrace(items: readonly Item[], skew: number, seed: number): Item[] {
  const sums: number[] = [];
  let sum = 0;
  for (let rank = 1; rank <= items.length; rank++) sums.push((sum += rank ** -skew));
  const draws = seededUniform(seed, 3, ACCESSES);
  return Array.from(draws, (draw) => {
    const wanted = ((draw + 1) / 2) * sum;
    return items[lowerBound(sums, wanted)] as Item;
  });
}

/** First index whose value is above the searched one; the last index where there is none. */
function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
