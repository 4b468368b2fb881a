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

  it("are those of the calibration again after a rest, also with the next sample", () => {
    const times = createTimes();
    let nowMs = pass(times, 0, 60, () => 5);
    nowMs = pass(times, nowMs, 5, () => 50);
    nowMs = pass(times, nowMs, 10, () => 5);
    expect(timeQuantile(times, prior, P99, nowMs)).toBeLessThan(6);
    nowMs += 3_600_000;
    expect(timeQuantile(times, prior, P99, nowMs)).toBeCloseTo(9.9, 0);
    expect(shownQuantile(times, P99, nowMs)).toBe(Infinity);
    noteTime(times, 5, nowMs);
    expect(timeQuantile(times, prior, P99, nowMs + 100)).toBeCloseTo(9.9, 0);
  });

  it("are judged by forecasts of then, not by old ones", () => {
    const times = createTimes();
    let nowMs = pass(times, 0, 60, () => 5);
    // Nothing is asked while it is slow.
    for (let index = 0; index < 500; index++) noteTime(times, 50, (nowMs += 10));
    nowMs = pass(times, nowMs, 4, () => 5);
    expect(timeQuantile(times, prior, P99, nowMs)).toBeLessThan(6);
  });

  it("end with a slowdown at one confidence though callers ask for many others", () => {
    const times = createTimes();
    let nowMs = 0;
    const ask = (index: number) => [P99, 0.95 + (index % 450) / 1e4].map((c) => timeQuantile(times, prior, c, nowMs));
    for (let index = 0; index < 7_000; index++) {
      nowMs += 10;
      if (index % 10 === 0) ask(index);
      noteTime(times, index >= 6_000 && index < 6_500 ? 50 : 5, nowMs);
    }
    expect(Math.max(...ask(0))).toBeLessThan(6);
  });

  it("rise with the confidence, also after a slowdown", () => {
    const times = createTimes();
    let nowMs = pass(times, 0, 30, () => 5);
    nowMs = pass(times, nowMs, 5, () => 50);
    for (let index = 0; index < 400; index++) {
      // A sketch is off by half a percent, the latest samples are exact.
      const read = [0.5, 0.9, 0.95, 0.97, 0.99].map((c) => Math.round(timeQuantile(times, prior, c, nowMs)));
      expect(read).toEqual(read.toSorted((a, b) => a - b));
      noteTime(times, 5, (nowMs += 10));
    }
  });

  it("do not hold back the short window when a slowdown begins", () => {
    const times = createTimes();
    let nowMs = pass(times, 0, 120, () => 5);
    nowMs = pass(times, nowMs, 1, () => 50);
    expect(timeQuantile(times, prior, 0.9, nowMs)).toBeGreaterThan(45);
    nowMs = pass(times, nowMs, 3, () => 50);
    expect(timeQuantile(times, prior, 0.5, nowMs)).toBeGreaterThan(45);
  });

  it("are of the time after the clock was set back", () => {
    const times = createTimes();
    pass(times, 1e9, 60, () => 50);
    let nowMs = pass(times, 0, 20, () => 20);
    expect(timeQuantile(times, prior, 0.5, nowMs)).toBeCloseTo(20, 0);
    expect(timeQuantile(times, prior, P99, nowMs)).toBeCloseTo(20, 0);
    nowMs = pass(times, nowMs, 5, () => 80);
    nowMs = pass(times, nowMs, 5, () => 20);
    expect(timeQuantile(times, prior, P99, nowMs)).toBeCloseTo(20, 0);
  });
});
