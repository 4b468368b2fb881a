import { expect, it } from "vitest";
import {
  FIRST_LIFE,
  judgeReload,
  type Lives,
  noteDeath,
  noteReady,
  noteServed,
  noteStart,
  planLife,
  rememberUsed,
} from "../../../../src/gpu-runner/device-host/life-machine.ts";

/** The process dies at once, again and again; gives the waits before its next lives. */
function waitsOf(times: number, between = (lives: Lives) => lives): number[] {
  let lives = FIRST_LIFE;
  return Array.from({ length: times }, () => {
    const planned = planLife(noteDeath(between(lives), 10));
    lives = noteReady(noteStart(planned.lives));
    return planned.waitMs;
  });
}

it("waits longer before each life that follows a short one without an answer", () => {
  expect(waitsOf(8)).toEqual([0, 100, 500, 2_000, 5_000, 15_000, 15_000, 15_000]);
});

it("starts at once after a life that answered, or was long", () => {
  expect(waitsOf(4, noteServed)).toEqual([0, 0, 0, 0]);
  const third = planLife(noteDeath(planLife(noteDeath(FIRST_LIFE, 10)).lives, 10)).lives;
  expect(planLife(noteDeath(third, 5_000)).waitMs).toBe(0);
});

it("is down from a death until the next life is ready, and counts the starts", () => {
  const dead = noteDeath(FIRST_LIFE, 10);
  expect(dead.isDown).toBe(true);
  const started = noteStart(noteStart(dead));
  expect(started).toMatchObject({ isDown: true, restarts: 2 });
  expect(noteReady(started)).toMatchObject({ isDown: false, restarts: 2 });
});

it("gives a model up that a living process refuses, or that ended three lives", () => {
  expect(judgeReload(0, true)).toEqual({ fatalReloads: 0, isGivenUp: true });
  expect(judgeReload(0, false)).toEqual({ fatalReloads: 1, isGivenUp: false });
  expect(judgeReload(2, false)).toEqual({ fatalReloads: 3, isGivenUp: true });
});

it("remembers the four pipelines that were used last, each once", () => {
  const used = ["a", "b", "c", "a", "d", "e"].reduce<{ kernel: string }[]>(
    (known, kernel) => rememberUsed(known, { kernel }),
    [],
  );
  expect(used.map(({ kernel }) => kernel)).toEqual(["c", "a", "d", "e"]);
});
