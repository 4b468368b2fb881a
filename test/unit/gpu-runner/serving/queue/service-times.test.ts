import { describe, expect, it } from "vitest";
import { levelOf, ServiceTimes } from "../../../../../src/gpu-runner/serving/queue/service-times.ts";
import { LIMITS } from "../../../../../src/protocol/wire/limits.ts";

function learn(times: ServiceTimes, rows: number, durationsMs: readonly number[], fromMs = 0, stepMs = 1): void {
  for (const [index, durationMs] of durationsMs.entries()) times.note(rows, durationMs, fromMs + index * stepMs);
}
const rising = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const same = (durationMs: number, count = 8) => Array<number>(count).fill(durationMs);
const quantile = (times: ServiceTimes, rows: number, confidence: number) => times.quantileMs(rows, levelOf(confidence));

it("a confidence counts as the next level above it", () => {
  expect(levelOf(0)).toBe(0);
  expect(levelOf(0.98)).toBe(levelOf(0.975));
  expect(levelOf(0.99)).toBe(levelOf(0.98) + 1);
  expect(levelOf(1)).toBe(levelOf(0.999));
});

describe("the time of a batch", () => {
  it("is the nearest rank of what its size took", () => {
    const times = new ServiceTimes();
    learn(times, 4, rising(16).toReversed());
    expect(quantile(times, 4, 0.5)).toBe(8);
    expect(quantile(times, 4, 0.9)).toBe(14);
    expect(quantile(times, 4, 0.99)).toBe(15);
    expect(quantile(times, 4, 0)).toBe(1);
  });

  it("has no tail of one spike among few", () => {
    const times = new ServiceTimes();
    learn(times, 1, [...same(1, 31), 50]);
    expect(quantile(times, 1, 0.99)).toBe(1);
    learn(times, 1, same(50, 1));
    learn(times, 1, same(1, 7));
    expect(quantile(times, 1, 0.99)).toBe(50);
  });

  it("forgets what is old of a size that runs no more, as soon as another one does", () => {
    const times = new ServiceTimes();
    learn(times, 1, [...same(50, 16), ...same(1, 64)], 0, 1);
    expect(quantile(times, 1, 0.99)).toBe(50);
    learn(times, 8, same(9), 70_000);
    expect(quantile(times, 1, 0.99)).toBe(1);
  });

  it("is expected to be the mean of the last few, but for the slowest", () => {
    const times = new ServiceTimes();
    learn(times, 4, [...same(1_000, 10), ...same(2, 31), 500]);
    expect(times.expectedMs(4)).toBe(2);
  });

  it("of another size lies on the line between its neighbours, and beyond the largest on the last two's", () => {
    const times = new ServiceTimes();
    learn(times, 1, [5]);
    learn(times, 9, [13]);
    learn(times, 17, [29]);
    expect(quantile(times, 5, 0.9)).toBe(9);
    expect(quantile(times, 13, 0.9)).toBe(21);
    expect(times.expectedMs(25)).toBe(45);
    expect(times.expectedMs(LIMITS.batchRows + 1)).toBe(29 + 2 * (LIMITS.batchRows + 1 - 17));
  });

  it("of sizes of one octave is that of their mean, so that what rises with the rows is found again", () => {
    const times = new ServiceTimes();
    learn(times, 1, same(3));
    for (let round = 0; round < 4; round++) for (const rows of [5, 6, 7, 8]) times.note(rows, 2 + rows, 0);
    expect(times.expectedMs(5)).toBeCloseTo(7);
    expect(times.expectedMs(8)).toBeCloseTo(10);
    expect(times.expectedMs(3)).toBeCloseTo(5);
  });

  it("of a smaller size than was seen is on the line of the smallest two, and no less than its share", () => {
    const times = new ServiceTimes();
    learn(times, 8, same(10));
    expect(times.expectedMs(4)).toBe(10);
    learn(times, 16, same(14));
    expect(times.expectedMs(4)).toBe(8);
    const steep = new ServiceTimes();
    learn(steep, 8, same(8));
    learn(steep, 16, same(24));
    expect(steep.expectedMs(4)).toBe(4);
  });

  it("is not taken to fall with the size, and is proportional beyond where one size is known", () => {
    const times = new ServiceTimes();
    learn(times, 4, [8]);
    expect(quantile(times, 8, 0.9)).toBe(16);
    expect(quantile(times, 2, 0.9)).toBe(8);
    learn(times, 8, [6]);
    expect(quantile(times, 6, 0.9)).toBe(8);
    expect(quantile(times, 32, 0.9)).toBe(8);
  });

  it("counts from the fourth batch of a size on, once some size has so many", () => {
    const times = new ServiceTimes();
    learn(times, 1, same(5));
    learn(times, 16, same(500, 3));
    expect(times.expectedMs(16)).toBe(80);
    times.note(16, 20, 0);
    times.note(16, 20, 0);
    expect(times.expectedMs(16)).toBeGreaterThan(80);
  });

  it("follows a drift: what is over a minute old counts no more", () => {
    const times = new ServiceTimes();
    learn(times, 1, same(1, 200));
    expect(quantile(times, 1, 0.5)).toBe(1);
    learn(times, 1, same(10, 40), 100_000);
    expect(quantile(times, 1, 0.5)).toBe(10);
    expect(quantile(times, 1, 0)).toBe(10);
  });

  it("shows within some batches that the device became slower", () => {
    const times = new ServiceTimes();
    learn(times, 1, same(1, 512));
    learn(times, 1, same(3, 64));
    expect(times.expectedMs(1)).toBe(3);
    expect(quantile(times, 1, 0.99)).toBe(3);
    expect(quantile(times, 1, 0.5)).toBe(3);
  });

  it("keeps the last few of a size that runs seldom", () => {
    const times = new ServiceTimes();
    learn(times, 1, rising(16), 0, 60_001);
    expect(quantile(times, 1, 0.99)).toBe(15);
    learn(times, 1, same(7, 32), 100 * 60_000, 60_001);
    expect(quantile(times, 1, 0.99)).toBe(7);
  });

  it("is nothing before any measurement: no request is refused on a guess", () => {
    const times = new ServiceTimes();
    expect(quantile(times, 8, 0.99)).toBe(0);
    expect(times.expectedMs(8)).toBe(0);
    expect(times.notedAtMs).toBe(Number.NEGATIVE_INFINITY);
    times.note(1, 5, 77);
    expect(times.notedAtMs).toBe(77);
  });
});

describe("the largest batch", () => {
  /** Learns of each size that may be formed, as a queue without end would have it. */
  function grow(costMs: (rows: number) => number): { times: ServiceTimes; sizes: number[] } {
    const times = new ServiceTimes();
    const sizes: number[] = [];
    for (let step = 0; step < 12; step++) {
      sizes.push(times.maxRows);
      learn(times, times.maxRows, same(costMs(times.maxRows)));
    }
    return { times, sizes };
  }

  it("doubles as long as a row costs less in a larger one, up to the limit", () => {
    const { times, sizes } = grow((rows) => 100 + rows);
    expect(sizes.slice(0, 9)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256]);
    expect(times.maxRows).toBe(LIMITS.batchRows);
  });

  it("is the smallest in which a row costs next to the least", () => {
    // Of 1 + rows, a row in a batch of 16 costs 1.063, in one of 32 it costs 1.031.
    expect(grow((rows) => 1 + rows).times.maxRows).toBe(16);
    expect(grow((rows) => rows).times.maxRows).toBe(1);
  });

  it("stays as it is where another one is a little better, and changes where it is much", () => {
    const { times } = grow((rows) => 1 + rows);
    const chosen = times.maxRows;
    learn(times, chosen, same((1 + chosen) * 1.015, 32), 1_000);
    expect(times.maxRows).toBe(chosen);
    learn(times, chosen, same((1 + chosen) * 1.5, 32), 2_000);
    expect(times.maxRows).toBeGreaterThan(chosen);
  });

  it("is one before anything was seen", () => {
    expect(new ServiceTimes().maxRows).toBe(1);
  });
});

describe("a trial", () => {
  it("takes half of the older samples' place, so that some trials show that a device is fast again", () => {
    const times = new ServiceTimes();
    learn(times, 1, same(50, 256));
    let trials = 0;
    for (; quantile(times, 1, 0.99) > 2; trials++) times.noteTrial(1, 2, 256 + trials);
    expect(trials).toBeLessThan(12);
  });

  it("shows at once what the newer half of the samples says", () => {
    const times = new ServiceTimes();
    learn(times, 1, [...same(50, 200), ...same(10, 200)]);
    expect(quantile(times, 1, 0.99)).toBe(50);
    times.noteTrial(1, 10, 400);
    expect(quantile(times, 1, 0.99)).toBe(10);
  });

  it("of a request alone soon counts beside many batches of another size", () => {
    const times = new ServiceTimes();
    learn(times, 8, same(50, 256));
    let trials = 0;
    for (; quantile(times, 1, 0.99) > 2; trials++) times.noteTrial(1, 2, 256 + trials);
    expect(trials).toBe(4);
  });
});
