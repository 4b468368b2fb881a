import { expect, it } from "vitest";
import { openLoadClock } from "../../../../../src/gpu-runner/kinds/validation/open-load-clock.ts";

const never = new AbortController().signal;

it("waits until the clock has got there, several at once, and not for what is past", async () => {
  const clock = await openLoadClock();
  try {
    const startMs = clock.now();
    const waits = [25, 2, 12, -5].map(async (ms) => {
      await clock.waitUntil(startMs + ms, never);
      expect(clock.now()).toBeGreaterThanOrEqual(startMs + ms);
    });
    await Promise.all(waits);
  } finally {
    await clock.close();
  }
});

it("lets other work be done before it goes on, even late", async () => {
  const clock = await openLoadClock();
  const turns: number[] = [];
  const turning = setInterval(() => turns.push(clock.now()), 1);
  while (turns.length < 3) await clock.waitUntil(clock.now() - 1, never);
  clearInterval(turning);
  await clock.close();
  expect(turns).toHaveLength(3);
});

it("ends a wait that is aborted, and those that are left when it is closed", async () => {
  const clock = await openLoadClock();
  const abort = new AbortController();
  const far = clock.waitUntil(clock.now() + 3_600_000, abort.signal);
  abort.abort();
  await far;
  await clock.waitUntil(clock.now() + 3_600_000, abort.signal);
  const near = clock.waitUntil(clock.now() + 9, never);
  await clock.close();
  await expect(near).resolves.toBeUndefined();
});
