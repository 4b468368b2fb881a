import { expect, it } from "vitest";
import { SimClock } from "../../../../bench/simulate/sim-clock.ts";
import { sfc32 } from "../../../../src/stats/random/seeded.ts";

it("does what is due in order of time, and of one time in the order in which it was put down", async () => {
  const clock = new SimClock();
  const draw = sfc32(7);
  const due = Array.from({ length: 500 }, (_, turn) => ({ atMs: draw(50), turn }));
  const done: (typeof due)[number][] = [];
  for (const each of due) {
    clock.at(each.atMs, () => {
      expect(clock.nowMs).toBe(each.atMs);
      done.push(each);
    });
  }
  await clock.runUntil(100);
  expect(done).toEqual(due.toSorted((a, b) => a.atMs - b.atMs || a.turn - b.turn));
  expect(clock.nowMs).toBe(100);
});

it("follows up promises before time goes on", async () => {
  const clock = new SimClock();
  const seen: number[] = [];
  const work = async () => {
    for (const waitMs of [3, 4]) {
      await clock.delay(waitMs);
      await Promise.resolve();
      seen.push(clock.nowMs);
    }
  };
  void work();
  clock.at(5, () => seen.push(clock.nowMs));
  clock.at(9, () => seen.push(clock.nowMs));
  await clock.runUntil(8);
  expect(seen).toEqual([3, 5, 7]);
});
