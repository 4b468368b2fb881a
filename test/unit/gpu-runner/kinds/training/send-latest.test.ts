import { expect, it } from "vitest";
import { sendLatest } from "../../../../../src/gpu-runner/kinds/training/train-to-end.ts";

function createLine() {
  const sent: { value: number; pass: () => void; fail: (error: Error) => void }[] = [];
  const failures: unknown[] = [];
  const sender = sendLatest(
    (value: number) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      sent.push({ value, pass: resolve, fail: reject });
      return promise;
    },
    (error) => failures.push(error),
  );
  return { sent, failures, sender };
}

it("sends one at a time, and of what came meanwhile the latest", async () => {
  const { sent, sender } = createLine();
  for (const value of [1, 2, 3]) sender.offer(value);
  expect(sent.map(({ value }) => value)).toEqual([1]);
  const settled = sender.settle();
  sent[0]!.pass();
  await expect.poll(() => sent.map(({ value }) => value)).toEqual([1, 3]);
  sent[1]!.pass();
  await settled;
  sender.offer(4);
  expect(sent.map(({ value }) => value)).toEqual([1, 3, 4]);
});

it("reports what cannot be sent, and sends what comes later", async () => {
  const { sent, failures, sender } = createLine();
  sender.offer(1);
  const lost = new Error("lost");
  sent[0]!.fail(lost);
  await sender.settle();
  expect(failures).toEqual([lost]);
  sender.offer(2);
  expect(sent.at(-1)!.value).toBe(2);
});

it("has settled where nothing was offered", async () => {
  await expect(createLine().sender.settle()).resolves.toBeUndefined();
});
