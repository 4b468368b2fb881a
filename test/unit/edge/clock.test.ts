import { expect, it } from "vitest";
import { armBy } from "../../../src/edge/clock.ts";

const NOW_MS = 100_000;

/** The time of the alarm after it was armed for `atMs`. */
async function armed(before: number | null, atMs: number): Promise<number | null> {
  let alarmMs = before;
  const alarm = {
    getAlarm: async () => alarmMs,
    setAlarm: async (ms: number) => {
      alarmMs = ms;
    },
  };
  await armBy(alarm, atMs, NOW_MS);
  return alarmMs;
}

it("sets an alarm where there is none, and moves a later one", async () => {
  expect(await armed(null, NOW_MS + 10)).toBe(NOW_MS + 10);
  expect(await armed(NOW_MS + 20, NOW_MS + 10)).toBe(NOW_MS + 10);
  expect(await armed(NOW_MS + 5, NOW_MS + 10)).toBe(NOW_MS + 5);
});

it("needs none for a time that never comes", async () => {
  expect(await armed(null, Infinity)).toBeNull();
  expect(await armed(NOW_MS + 5, Infinity)).toBe(NOW_MS + 5);
});

it("leaves an alarm alone that is due and has not rung, unless it seems lost", async () => {
  expect(await armed(NOW_MS - 3, NOW_MS + 10)).toBe(NOW_MS - 3);
  expect(await armed(NOW_MS - 4_999, NOW_MS + 10)).toBe(NOW_MS - 4_999);
  expect(await armed(NOW_MS - 5_000, NOW_MS + 10)).toBe(NOW_MS + 10);
});
