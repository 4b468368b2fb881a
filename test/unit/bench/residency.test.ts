import { describe, expect, it } from "vitest";
import { createOrder } from "../../../bench/residency/access-order.ts";
import { LruCache } from "../../../bench/residency/lru-cache.ts";

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
