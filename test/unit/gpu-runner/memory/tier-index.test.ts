import { describe, expect, it } from "vitest";
import { TierIndex } from "../../../../src/gpu-runner/memory/tier-index.ts";
import { fc } from "../../property.ts";

const CAPACITY = 1_000;
const keys = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
const operations = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant("admit" as const),
      key: keys,
      sizeBytes: fc.integer({ min: 1, max: 1_200 }),
      costMs: fc.double({ min: 0, max: 100, noNaN: true }),
      must: fc.boolean(),
    }),
    fc.record({ do: fc.constantFrom("touch" as const, "pin", "unpin", "hold", "letGo", "remove"), key: keys }),
    fc.record({ do: fc.constant("shrink" as const), key: keys, sizeBytes: fc.integer({ min: 1, max: 1_200 }) }),
    fc.record({ do: fc.constant("trim" as const), targetBytes: fc.integer({ min: 0, max: CAPACITY }) }),
  ),
  { maxLength: 60 },
);

describe("a tier's index, whatever is asked of it,", () => {
  it("is never over its budget, and never sends away what is pinned or held", () => {
    fc.assert(
      fc.property(operations, (asked) => {
        const index = new TierIndex(CAPACITY);
        const pinned = new Set<string>();
        const held = new Map<string, (() => void)[]>();
        const isHeld = (key: string) => (held.get(key) ?? []).length > 0;
        const sizes = new Map<string, number>();
        const leave = (victims: readonly { key: string; sizeBytes: number }[]) => {
          for (const { key, sizeBytes } of victims) {
            expect(pinned.has(key) || isHeld(key)).toBe(false);
            expect(sizes.get(key)).toBe(sizeBytes);
            expect(index.has(key)).toBe(false);
            sizes.delete(key);
          }
        };
        for (const step of asked) {
          if (step.do === "admit") {
            const before = index.usedBytes - (index.sizeOf(step.key) ?? 0);
            const admission = index.admit(step, step.costMs, { must: step.must });
            for (const forgotten of [sizes, pinned, held]) forgotten.delete(step.key);
            if (admission.admitted) {
              leave(admission.victims);
              sizes.set(step.key, step.sizeBytes);
            } else expect(index.usedBytes).toBe(before);
          } else if (step.do === "trim") {
            leave(index.trim(step.targetBytes));
            const mayStay = [...sizes.keys()].every((key) => pinned.has(key) || isHeld(key));
            expect(index.usedBytes <= step.targetBytes || mayStay).toBe(true);
          } else if (step.do === "shrink") {
            index.shrink(step.key, step.sizeBytes);
            const size = sizes.get(step.key);
            if (size !== undefined) sizes.set(step.key, Math.min(size, step.sizeBytes));
          } else if (step.do === "pin") {
            expect(index.pin(step.key)).toBe(sizes.has(step.key));
            if (sizes.has(step.key)) pinned.add(step.key);
          } else if (step.do === "hold") {
            const letGo = index.hold(step.key);
            if (letGo !== null) held.set(step.key, [...(held.get(step.key) ?? []), letGo]);
          } else if (step.do === "letGo") held.get(step.key)?.pop()?.();
          else if (step.do === "touch") index.touch(step.key, 1);
          else {
            index[step.do](step.key);
            if (step.do === "unpin") pinned.delete(step.key);
            if (step.do === "remove") for (const forgotten of [sizes, pinned, held]) forgotten.delete(step.key);
          }
          const total = (of: Iterable<string>) => [...of].reduce((sum, key) => sum + (sizes.get(key) ?? 0), 0);
          expect(index.usedBytes).toBe(total(sizes.keys()));
          expect(index.usedBytes).toBeLessThanOrEqual(CAPACITY);
          expect(index.pinnedBytes).toBe(total(pinned));
          expect([index.items, index.pinnedItems]).toEqual([sizes.size, pinned.size]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("what leaves first", () => {
  const fill = (...items: [key: string, sizeBytes: number, costMs: number][]) => {
    const index = new TierIndex(CAPACITY);
    for (const [key, sizeBytes, costMs] of items) index.admit({ key, sizeBytes }, costMs);
    return index;
  };
  const leaving = (index: TierIndex) => index.trim(0).map(({ key }) => key);

  it("is what is cheap to bring back, for its size", () => {
    expect(leaving(fill(["dear", 100, 50], ["cheap", 100, 1], ["large", 400, 50]))).toEqual(["cheap", "large", "dear"]);
  });

  it("is what was used less, and of equals what came first", () => {
    const index = fill(["first", 100, 10], ["often", 100, 10], ["last", 100, 10]);
    index.touch("often", 10);
    expect(leaving(index)).toEqual(["first", "last", "often"]);
  });

  it("is in the end also what was once used much", () => {
    const index = fill(["once", 500, 10], ["filler", 500, 10]);
    for (let use = 0; use < 20; use++) index.touch("once", 10);
    let rounds = 0;
    while (index.has("once") && rounds < 100) index.admit({ key: `new ${rounds++}`, sizeBytes: 500 }, 10);
    expect(rounds).toBeGreaterThan(10);
    expect(rounds).toBeLessThan(100);
  });

  it("is what is expected only where nothing else is left", () => {
    const index = new TierIndex(CAPACITY, (key) => key === "expected");
    index.admit({ key: "expected", sizeBytes: 500 }, 1);
    index.admit({ key: "dear", sizeBytes: 500 }, 1_000);
    expect(index.admit({ key: "a", sizeBytes: 500 }, 1, { must: true })).toMatchObject({ victims: [{ key: "dear" }] });
    expect(index.admit({ key: "b", sizeBytes: 1_000 }, 1, { must: true })).toMatchObject({
      victims: [{ key: "a" }, { key: "expected" }],
    });
  });

  it("is the newcomer, unless it must stay", () => {
    const index = fill(["dear", 1_000, 1_000]);
    expect(index.admit({ key: "cheap", sizeBytes: 500 }, 1)).toEqual({ admitted: false });
    expect(index.has("dear")).toBe(true);
    expect(index.admit({ key: "cheap", sizeBytes: 500 }, 1, { must: true })).toEqual({
      admitted: true,
      victims: [{ key: "dear", sizeBytes: 1_000 }],
    });
    expect(index.admit({ key: "too large", sizeBytes: 1_001 }, 1, { must: true })).toEqual({ admitted: false });
  });
});

it("pins only as much as the tier has, where more was there before", () => {
  const index = new TierIndex(CAPACITY);
  for (const key of ["a", "b", "c"]) index.restore({ key, sizeBytes: 400 }, 1);
  expect(["a", "b", "c"].map((key) => index.pin(key))).toEqual([true, true, false]);
  expect(index.trim(CAPACITY).map(({ key }) => key)).toEqual(["c"]);
  expect(index.usedBytes).toBe(800);
});

it("keeps an item for its new user when the user of one that was lost lets go", () => {
  const index = new TierIndex(CAPACITY);
  index.admit({ key: "a", sizeBytes: 400 }, 1);
  const letGoOfLost = index.hold("a");
  index.clear();
  index.admit({ key: "a", sizeBytes: 400 }, 1);
  const letGo = index.hold("a");
  letGoOfLost?.();
  expect(index.trim(0)).toEqual([]);
  letGo?.();
  expect(index.trim(0)).toEqual([{ key: "a", sizeBytes: 400 }]);
});
