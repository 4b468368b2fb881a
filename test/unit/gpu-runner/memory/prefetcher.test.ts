import { describe, expect, it } from "vitest";
import { AccessPattern } from "../../../../src/gpu-runner/memory/access-pattern.ts";
import { Prefetcher } from "../../../../src/gpu-runner/memory/prefetcher.ts";
import { fc } from "../../property.ts";

const WARM_UP = 12;

function predictionAfter(positions: readonly number[], depth = 2) {
  const pattern = new AccessPattern();
  for (const position of positions) pattern.note(position);
  return pattern.predict(depth);
}

/** Feeds accesses, and treats requested prefetches as done. */
function prefetchAll(prefetcher: Prefetcher, positions: readonly number[], count = 1_000): number {
  let hits = 0;
  for (const position of positions) {
    if (prefetcher.isOpen(position)) hits++;
    for (const next of prefetcher.note(position, count)) prefetcher.issued(next);
  }
  return hits;
}

describe("a pattern", () => {
  it("of any stride is predicted, with the items that come next", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1_000 }),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: WARM_UP, max: 40 }),
        (start, step, length) => {
          const accesses = Array.from({ length }, (_, index) => start + index * step);
          const last = start + (length - 1) * step;
          expect(predictionAfter(accesses)).toMatchObject({
            pattern: step === 1 ? "sequential" : "strided",
            positions: [last + step, last + 2 * step],
          });
        },
      ),
    );
  });

  it("backwards ends at the first position", () => {
    const accesses = Array.from({ length: 20 }, (_, index) => 20 - index);
    expect(predictionAfter(accesses)).toMatchObject({ pattern: "strided", positions: [0] });
  });

  it("that repeats is predicted once it has been seen, whatever it is", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 500 }), { minLength: 12, maxLength: 40 }), (period) => {
        const pattern = new AccessPattern();
        for (let round = 0; round < 3; round++) for (const position of period) pattern.note(position);
        expect(pattern.predict(3)?.positions).toEqual(period.slice(0, 3));
      }),
    );
  });

  it("that only two accesses distinguish is predicted, too", () => {
    const accesses = Array.from({ length: 8 }, () => [7, 1, 7, 30]).flat();
    expect(predictionAfter(accesses, 4)).toMatchObject({ pattern: "temporal", positions: [7, 1, 7, 30] });
  });

  it("survives a single access that does not belong to it", () => {
    const accesses = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 500, 12, 13, 14, 15, 16];
    expect(predictionAfter(accesses, 1)).toMatchObject({ pattern: "sequential", positions: [17] });
  });

  it("is not seen in random accesses", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 100, maxLength: 400 }), (accesses) => {
        const prefetcher = new Prefetcher();
        prefetchAll(prefetcher, accesses, 10_001);
        expect(prefetcher.counters.issued).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});

describe("prefetching", () => {
  it("meets nearly all accesses of a sequence, ever further ahead", () => {
    const prefetcher = new Prefetcher();
    const hits = prefetchAll(
      prefetcher,
      Array.from({ length: 200 }, (_, index) => index),
    );
    expect(hits).toBeGreaterThan(180);
    expect(prefetcher).toMatchObject({ pattern: "sequential", confidence: 1, depth: 4 });
    expect(prefetcher.counters.wrong).toBe(0);
  });

  it("goes no further than what there is, and asks for nothing twice", () => {
    const prefetcher = new Prefetcher();
    const asked: number[] = [];
    for (let position = 0; position < 40; position++) {
      for (const next of prefetcher.note(position, 40)) {
        asked.push(next);
        prefetcher.issued(next);
      }
    }
    expect(Math.max(...asked)).toBe(39);
    expect(new Set(asked).size).toBe(asked.length);
  });

  it("rests when what it fetched is lost, and comes back", () => {
    const prefetcher = new Prefetcher();
    let position = 0;
    const step = () => {
      const wanted = prefetcher.note(position++, 10_000);
      for (const next of wanted) prefetcher.issued(next);
      return wanted;
    };
    while (prefetcher.depth < 4) step();
    const open = Array.from({ length: 4 }, (_, ahead) => position + ahead);
    for (const next of open) prefetcher.lost(next);
    expect(prefetcher.depth).toBe(0);
    expect(prefetcher.counters.wrong).toBeGreaterThanOrEqual(3);
    expect(Array.from({ length: 31 }, step).flat()).toEqual([]);
    expect(Array.from({ length: 3 }, step).flat()).not.toEqual([]);
    expect(prefetcher.depth).toBe(1);
  });

  it("counts as wrong what no access has met", () => {
    const prefetcher = new Prefetcher();
    prefetchAll(
      prefetcher,
      Array.from({ length: 20 }, (_, index) => index),
    );
    const { issued, useful } = prefetcher.counters;
    expect(issued).toBeGreaterThan(useful);
    prefetchAll(
      prefetcher,
      Array.from({ length: 40 }, (_, index) => 500 + ((index * 37) % 101)),
    );
    const { counters } = prefetcher;
    expect(counters.wrong).toBeGreaterThanOrEqual(issued - useful);
  });

  it("accounts for everything that it issued", () => {
    const order = fc.array(
      fc.record({
        position: fc.integer({ min: 0, max: 20 }),
        run: fc.integer({ min: 1, max: 12 }),
        lose: fc.boolean(),
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(order, (pieces) => {
        const prefetcher = new Prefetcher();
        const open = new Set<number>();
        for (const { position, run, lose } of pieces) {
          for (let step = 0; step < run; step++) {
            for (const next of prefetcher.note(position + step, 64)) {
              prefetcher.issued(next);
              open.add(next);
            }
          }
          if (lose) for (const each of open) prefetcher.lost(each);
          const { issued, useful, wrong } = prefetcher.counters;
          const stillOpen = [...Array(64).keys()].filter((each) => prefetcher.isOpen(each)).length;
          expect(issued).toBe(useful + wrong + stillOpen);
          expect(prefetcher.depth).toBeLessThanOrEqual(4);
        }
      }),
    );
  });
});
