import { describe, expect, it } from "vitest";
import { NetworkCache } from "../../../../src/edge/inference/wasm/network-cache.ts";

const sized = (sizeBytes: number) => ({ sizeBytes });

describe("the networks of an isolate", () => {
  it("go in the order of their last use where they take too many bytes", () => {
    const cache = new NetworkCache({ maxBytes: 100, maxCount: 10 });
    for (const key of ["a", "b", "c"]) cache.keep(key, sized(30));
    expect(cache.use("a")).toEqual(sized(30));
    cache.keep("d", sized(50));
    expect(["a", "b", "c", "d"].filter((key) => cache.has(key))).toEqual(["a", "d"]);
    expect(cache.usedBytes).toBe(80);
    expect(cache.use("b")).toBeNull();
  });

  it("go where they are too many", () => {
    const cache = new NetworkCache({ maxBytes: 100, maxCount: 2 });
    for (const key of ["a", "b", "c"]) cache.keep(key, sized(1));
    expect(["a", "b", "c"].filter((key) => cache.has(key))).toEqual(["b", "c"]);
  });

  it("count once however often they come, and not at all once they were dropped", () => {
    const cache = new NetworkCache({ maxBytes: 100, maxCount: 2 });
    cache.keep("a", sized(60));
    cache.keep("a", sized(70));
    expect(cache.usedBytes).toBe(70);
    cache.drop("a");
    cache.drop("a");
    expect(cache.usedBytes).toBe(0);
  });

  it("stay where one comes that is larger than all may be", () => {
    const cache = new NetworkCache({ maxBytes: 100, maxCount: 2 });
    cache.keep("a", sized(60));
    cache.keep("b", sized(101));
    expect([cache.has("a"), cache.has("b")]).toEqual([true, false]);
  });
});
