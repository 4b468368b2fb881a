import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createOrder } from "../../../bench/residency/access-order.ts";
import { CacheBooks } from "../../../bench/residency/cache-books.ts";
import { openIndex, openLru } from "../../../bench/residency/eviction-case.ts";
import { LruCache } from "../../../bench/residency/lru-cache.ts";
import { openMigrations } from "../../../bench/residency/migration-case.ts";
import type { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";

describe("the LRU peer", () => {
  it("keeps what was used last, within its bytes", () => {
    const cache = new LruCache<number>(300);
    for (const [value, key] of ["a", "b", "c"].entries()) cache.set(key, value, 100);
    expect(cache.get("a")).toBe(0);
    cache.set("d", 3, 150);
    expect(["a", "b", "c", "d"].map((key) => cache.get(key))).toEqual([0, undefined, undefined, 3]);
    expect(cache.usedBytes).toBe(250);
  });

  it("lets pass what is larger than it", () => {
    const cache = new LruCache<number>(300);
    cache.set("a", 1, 100);
    cache.set("b", 2, 301);
    expect([cache.get("a"), cache.get("b"), cache.usedBytes]).toEqual([1, undefined, 100]);
  });
});

describe("the books of a cache", () => {
  const [a, b] = [
    { key: "a", sizeBytes: 100 },
    { key: "b", sizeBytes: 50 },
  ];

  it("add up what it took in and sent away", () => {
    const books = new CacheBooks();
    books.enter(a, { admitted: true, victims: [] });
    books.enter(a, "hit");
    expect(books.usedBytes).toBe(100);
    books.enter(b, { admitted: false });
    books.enter(b, { admitted: true, victims: [a] });
    expect(books.usedBytes).toBe(50);
  });

  it("believe no hit of what was never taken in or has left, and no eviction of what is not there", () => {
    const books = new CacheBooks();
    expect(() => books.enter(a, "hit")).toThrow("it never had item a");
    books.enter(a, { admitted: true, victims: [] });
    expect(() => books.enter(b, { admitted: true, victims: [b] })).toThrow("it sent away item b");
    books.enter(b, { admitted: true, victims: [a] });
    expect(() => books.enter(a, "hit")).toThrow("it never had item a");
    expect(() => books.enter(b, { admitted: false })).toThrow("it lost item b");
  });

  it.each([
    ["ours", openIndex],
    ["lru", openLru],
  ])("agree with %s, which is never overfull", async (_, open) => {
    const { output } = (await open({ skew: 0.9, share: 0.1 })).opened;
    expect(Math.max(...output)).toBeLessThanOrEqual(1);
    expect(Math.max(...output)).toBeGreaterThan(0.5);
  });
});

afterEach(() => vi.unstubAllEnvs());

it("migrations leave nothing on the disk where the device fails", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-bench-test-"));
  vi.stubEnv("TMPDIR", folder);
  const host = { work: () => Promise.reject(new Error("it is gone")) } as unknown as DeviceHost;
  await expect(openMigrations(host)({ sizeBytes: 4_096, repeats: 1 })).rejects.toThrow("it is gone");
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});

it("orders stay within the items, and each is what it is called", () => {
  for (const name of ["sequential", "strided", "temporal", "random"] as const) {
    const order = createOrder(name, 128, 512, 1);
    expect(order).toHaveLength(512);
    expect(order.every((position) => Number.isInteger(position) && position >= 0 && position < 128)).toBe(true);
  }
  expect(createOrder("sequential", 4, 6, 1)).toEqual([0, 1, 2, 3, 0, 1]);
  expect(createOrder("strided", 128, 3, 1)).toEqual([0, 7, 14]);
  const temporal = createOrder("temporal", 128, 144, 1);
  expect(temporal.slice(48, 96)).toEqual(temporal.slice(0, 48));
  expect(createOrder("random", 128, 64, 1)).not.toEqual(createOrder("random", 128, 64, 2));
});
