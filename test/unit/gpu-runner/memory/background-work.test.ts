import { expect, it } from "vitest";
import { BackgroundWork } from "../../../../src/gpu-runner/memory/background-work.ts";

function openWork(maxHeldBytes: number) {
  const errors: unknown[] = [];
  const work = new BackgroundWork({ bytesPerSecond: 1e9, maxHeldBytes, onError: (error) => errors.push(error) });
  return { work, errors };
}

it("keeps no more bytes alive than it may, but any single piece", async () => {
  const { work } = openWork(100);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const add = (sizeBytes: number) => work.add(sizeBytes, () => ended, sizeBytes);
  expect([60, 40, 1, 0].map(add)).toEqual([true, true, false, true]);
  expect(work.report()).toMatchObject({ waiting: 3, skipped: 1 });
  end();
  await work.idle();
  expect(add(1_000)).toBe(true);
  expect(add(1)).toBe(false);
  await work.idle();
  expect(work.report()).toMatchObject({ waiting: 0, done: 4, skipped: 2 });
});

it("goes on behind a piece that fails", async () => {
  const { work, errors } = openWork(100);
  const failure = new Error("no room");
  work.add(100, () => Promise.reject(failure), 100);
  await work.idle();
  expect(work.add(100, async () => undefined, 100)).toBe(true);
  await work.idle();
  expect(errors).toEqual([failure]);
});
