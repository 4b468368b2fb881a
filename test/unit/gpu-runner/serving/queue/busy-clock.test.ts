import { expect, test } from "vitest";
import { BusyClock } from "../../../../../src/gpu-runner/serving/queue/serving-meter.ts";

test("what overlaps counts once, and what goes on counts in each span by its part", () => {
  const clock = new BusyClock();
  clock.begin(10);
  clock.begin(15);
  clock.end(20);
  clock.end(30);
  clock.begin(90);
  expect(clock.cut(100)).toBe(30);
  clock.end(105);
  clock.begin(110);
  clock.end(111);
  expect(clock.cut(200)).toBe(6);
  expect(clock.cut(300)).toBe(0);
});
