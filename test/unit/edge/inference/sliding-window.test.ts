import { describe, expect, it } from "vitest";
import {
  createTimes,
  createWindow,
  noteSample,
  noteTime,
  type RecentTimes,
  shownQuantile,
  type SlidingWindow,
  timeQuantile,
  windowQuantile,
} from "../../../../src/edge/inference/predict/sliding-window.ts";
import { addToSketch, createSketch } from "../../../../src/stats/distribution/sketch.ts";

const HALF_LIFE_MS = 1_000;
const prior = createSketch();
for (let i = 1; i <= 1_000; i++) addToSketch(prior, i / 100);

const noteMany = (window: SlidingWindow, count: number, durationMs: number, atMs: number) => {
  for (let i = 0; i < count; i++) noteSample(window, durationMs, atMs);
};

describe("a sliding window", () => {
  it("says what was measured beforehand as long as nothing was seen", () => {
    const window = createWindow(HALF_LIFE_MS);
    expect(windowQuantile(window, prior, 0.5, 0)).toBeCloseTo(5, 1);
    expect(windowQuantile(window, prior, 0.99, 0)).toBeCloseTo(9.9, 0);
    expect(windowQuantile(window, null, 0.5, 0)).toBeNaN();
  });

  it("is not moved by one outlier, but by what lasts", () => {
    const window = createWindow(HALF_LIFE_MS);
    noteSample(window, 500, 0);
    expect(windowQuantile(window, prior, 0.99, 0)).toBeLessThan(11);
    noteMany(window, 2, 500, 100);
    expect(windowQuantile(window, prior, 0.99, 100)).toBeGreaterThan(490);
  });

  it("follows a drift within seconds, up and down", () => {
    const window = createWindow(HALF_LIFE_MS);
    for (let atMs = 0; atMs < 20_000; atMs += 10) noteSample(window, 2, atMs);
    expect(windowQuantile(window, prior, 0.5, 20_000)).toBeCloseTo(2, 1);
    for (let atMs = 20_000; atMs < 22_000; atMs += 10) noteSample(window, 40, atMs);
    expect(windowQuantile(window, prior, 0.5, 22_000)).toBeCloseTo(40, 0);
    for (let atMs = 22_000; atMs < 30_000; atMs += 10) noteSample(window, 2, atMs);
    expect(windowQuantile(window, prior, 0.99, 30_000)).toBeLessThan(10);
  });

  it("goes back to what was measured when nothing more comes", () => {
    const window = createWindow(HALF_LIFE_MS);
    noteMany(window, 100, 500, 0);
    expect(windowQuantile(window, prior, 0.99, 1_000)).toBeGreaterThan(490);
    expect(windowQuantile(window, prior, 0.99, 8_000)).toBeLessThan(11);
  });

  it("reads a quantile anew after a moment, not for each request", () => {
    const window = createWindow(HALF_LIFE_MS);
    expect(windowQuantile(window, prior, 0.5, 0)).toBeCloseTo(5, 1);
    noteMany(window, 50, 1, 0);
    expect(windowQuantile(window, prior, 0.5, 49)).toBeCloseTo(5, 1);
    expect(windowQuantile(window, prior, 0.5, 50)).toBeCloseTo(1, 1);
  });

  it("answers from its samples alone where nothing was measured beforehand, however old they are", () => {
    const window = createWindow(HALF_LIFE_MS);
    noteMany(window, 3, 7, 0);
    expect(windowQuantile(window, null, 0.99, 3_600_000)).toBeCloseTo(7, 1);
  });

  it("takes no duration to be less than nothing", () => {
    const window = createWindow(HALF_LIFE_MS);
    noteSample(window, -3, 0);
    expect(windowQuantile(window, null, 0.5, 0)).toBe(0);
  });
});

describe("recent times of rare values", () => {
  const P99 = 0.99;
  /** Notes a hundred durations a second, and reads the quantile before each ten: these are under way together. */
  const pass = (times: RecentTimes, fromMs: number, seconds: number, durationOf: (index: number) => number) => {
    for (let index = 0; index < 100 * seconds; index++) {
      const nowMs = fromMs + 10 * index;
      if (index % 10 === 0) timeQuantile(times, prior, P99, nowMs);
      noteTime(times, durationOf(index), nowMs);
    }
    return fromMs + 1_000 * seconds;
  };

  it("end with a slowdown, after as many samples as show it", () => {
    const times = createTimes();
    let nowMs = pass(times, 0, 60, () => 5);
    nowMs = pass(times, nowMs, 5, () => 50);
    expect(timeQuantile(times, prior, P99, nowMs)).toBeGreaterThan(45);
    nowMs = pass(times, nowMs, 1, () => 5);
    expect(timeQuantile(times, prior, P99, nowMs)).toBeGreaterThan(45);
    nowMs = pass(times, nowMs, 2, () => 5);
    expect(timeQuantile(times, prior, P99, nowMs)).toBeLessThan(6);
    expect(shownQuantile(times, P99, nowMs)).toBeLessThan(6);
  });

  it("stay where pauses come again and again, more seldom than the latest samples show", () => {
    const times = createTimes();
    // Of 500 requests ten in a row are held up: 2%.
    const nowMs = pass(times, 0, 60, (index) => (index % 500 < 10 ? 50 : 5));
    expect(timeQuantile(times, prior, P99, nowMs)).toBeGreaterThan(45);
    expect(shownQuantile(times, P99, nowMs)).toBeGreaterThan(45);
  });

  it("are not shown by too few samples, nor beyond what 200 can show", () => {
    const times = createTimes();
    for (let index = 0; index < 99; index++) noteTime(times, 5, 0);
    expect(shownQuantile(times, P99, 0)).toBe(Infinity);
    for (let index = 0; index < 2; index++) noteTime(times, 5, 0);
    expect(shownQuantile(times, P99, 0)).toBeCloseTo(5, 1);
    expect(shownQuantile(times, 0.999, 0)).toBe(Infinity);
  });

  it("are those of the calibration again after a rest", () => {
    const times = createTimes();
    const nowMs = pass(times, 0, 10, () => 5);
    expect(timeQuantile(times, prior, P99, nowMs)).toBeLessThan(6);
    expect(timeQuantile(times, prior, P99, nowMs + 3_600_000)).toBeCloseTo(9.9, 0);
    expect(shownQuantile(times, P99, nowMs + 3_600_000)).toBe(Infinity);
  });

  it("are judged by forecasts of then, not by old ones", () => {
    const times = createTimes();
    let nowMs = pass(times, 0, 60, () => 5);
    // Nothing is asked while it is slow.
    for (let index = 0; index < 500; index++) noteTime(times, 50, (nowMs += 10));
    nowMs = pass(times, nowMs, 4, () => 5);
    expect(timeQuantile(times, prior, P99, nowMs)).toBeLessThan(6);
  });

  it("are remembered at one confidence though callers ask for many others", () => {
    const times = createTimes();
    let nowMs = 0;
    for (let index = 0; index < 6_000; index++) {
      nowMs += 10;
      for (const confidence of [P99, 0.95 + index / 1e6])
        if (index % 10 === 0) timeQuantile(times, prior, confidence, nowMs);
      noteTime(times, index % 500 < 10 ? 50 : 5, nowMs);
    }
    expect(timeQuantile(times, prior, P99, nowMs)).toBeGreaterThan(45);
  });

  it("rise with the confidence, also after a slowdown", () => {
    const times = createTimes();
    let nowMs = pass(times, 0, 30, () => 5);
    nowMs = pass(times, nowMs, 5, () => 50);
    for (let index = 0; index < 400; index++) {
      const read = [0.5, 0.9, 0.95].map((confidence) => timeQuantile(times, prior, confidence, nowMs));
      expect(read).toEqual(read.toSorted((a, b) => a - b));
      noteTime(times, 5, (nowMs += 10));
    }
  });

  it("survive a clock that jumps back, and durations below zero", () => {
    const times = createTimes();
    pass(times, 1e9, 5, () => 5);
    const nowMs = pass(times, 0, 30, (index) => (index % 100 === 0 ? -1 : 5));
    const found = timeQuantile(times, prior, P99, nowMs);
    expect(found).toBeGreaterThan(0);
    expect(found).toBeLessThan(50);
  });
});
