import { expect, it } from "vitest";
import { createGate } from "../../../../../src/gpu-runner/kinds/validation/system-under-test.ts";

/** Work that ends on request. */
function createWork() {
  const begun: number[] = [];
  const ends = new Map<number, PromiseWithResolvers<void>>();
  const work = (id: number) => () => {
    begun.push(id);
    const ended = Promise.withResolvers<void>();
    ends.set(id, ended);
    return ended.promise;
  };
  return { begun, work, ends };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

it("lets so many in, and the others in their order as places become free", async () => {
  const enter = createGate(2);
  const { begun, work, ends } = createWork();
  const all = [1, 2, 3, 4].map((id) => enter(work(id)));
  await settle();
  expect(begun).toEqual([1, 2]);
  ends.get(2)!.resolve();
  await settle();
  expect(begun).toEqual([1, 2, 3]);
  ends.get(1)!.reject(new Error("no"));
  await expect(all[0]).rejects.toThrow("no");
  await settle();
  expect(begun).toEqual([1, 2, 3, 4]);
  ends.get(3)!.resolve();
  ends.get(4)!.resolve();
  await Promise.all(all.slice(1));
  await enter(async () => {});
});

it("delays no query where there is no limit", async () => {
  const enter = createGate(null);
  const { begun, work } = createWork();
  for (let id = 0; id < 50; id++) void enter(work(id));
  expect(begun).toHaveLength(50);
});
