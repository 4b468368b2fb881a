import { expect, it } from "vitest";
import { thinProgress } from "../../../../../src/gpu-runner/kinds/training/train-to-end.ts";

/** Number of progress reports passed on, out of this many, one every 100 ms. */
function countPassed(total: number): number {
  let timeMs = 0;
  let passed = 0;
  const tell = thinProgress(
    () => passed++,
    () => timeMs,
  );
  for (let done = 1; done <= total; done++) {
    timeMs += 100;
    tell({ phase: "training", done, total });
  }
  return passed;
}

it("passes all on in the beginning", () => {
  expect(countPassed(100)).toBe(100);
});

it("passes on some thousand of an hour, and little more of a day", () => {
  expect(countPassed(36_000)).toBeLessThan(1_500);
  expect(countPassed(864_000)).toBeLessThan(countPassed(36_000) + 800);
});

it("always passes the last one on", () => {
  let timeMs = 0;
  const heard: number[] = [];
  const tell = thinProgress(
    ({ done }) => heard.push(done),
    () => timeMs,
  );
  timeMs = 1e6;
  tell({ phase: "training", done: 1, total: 3 });
  tell({ phase: "training", done: 2, total: 3 });
  tell({ phase: "training", done: 3, total: 3 });
  expect(heard).toEqual([1, 3]);
});
