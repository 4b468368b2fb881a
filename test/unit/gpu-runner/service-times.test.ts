import { describe, expect, it } from "vitest";
import { ServiceTimes } from "../../../src/gpu-runner/serving/service-times.ts";

function learn(times: ServiceTimes, rows: number, durationsMs: readonly number[], fromMs = 0, stepMs = 1): void {
  for (const [index, durationMs] of durationsMs.entries()) times.note(rows, durationMs, fromMs + index * stepMs);
}
const rising = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("the time of a batch", () => {
  it("is the nearest rank of what its size took", () => {
    const times = new ServiceTimes();
    learn(times, 4, rising(100));
    expect(times.quantileMs(4, 0.5)).toBe(51);
    expect(times.quantileMs(4, 0.99)).toBe(100);
    expect(times.largestRows).toBe(4);
  });

  it("of another size lies on the line between its neighbours, and beyond the largest on the last two's", () => {
    const times = new ServiceTimes();
    learn(times, 1, [5]);
    learn(times, 9, [13]);
    learn(times, 17, [29]);
    expect(times.quantileMs(5, 0.9)).toBe(9);
    expect(times.quantileMs(13, 0.9)).toBe(21);
    expect(times.quantileMs(25, 0.9)).toBe(45);
  });

  it("is not taken to fall with the size, and is proportional where one size is known", () => {
    const times = new ServiceTimes();
    learn(times, 4, [8]);
    expect(times.quantileMs(8, 0.9)).toBe(16);
    expect(times.quantileMs(2, 0.9)).toBe(8);
    learn(times, 8, [6]);
    expect(times.quantileMs(6, 0.9)).toBe(8);
    expect(times.quantileMs(32, 0.9)).toBe(8);
  });

  it("follows a drift: what is over a minute old counts no more", () => {
    const times = new ServiceTimes();
    learn(times, 1, Array<number>(200).fill(1));
    expect(times.quantileMs(1, 0.5)).toBe(1);
    learn(times, 1, Array<number>(20).fill(10), 100_000);
    expect(times.quantileMs(1, 0.5)).toBe(10);
    expect(times.quantileMs(1, 0)).toBe(10);
  });

  it("keeps the last few of a size that runs seldom", () => {
    const times = new ServiceTimes();
    learn(times, 1, rising(40), 0, 60_000);
    expect(times.quantileMs(1, 0)).toBe(25);
    expect(times.quantileMs(1, 0.99)).toBe(40);
  });

  it("is nothing before anything was seen: nobody is refused on a guess", () => {
    expect(new ServiceTimes().quantileMs(8, 0.99)).toBe(0);
  });
});
