import { expect, it } from "vitest";
import { Lane } from "../../../../src/edge/link/link-parts.ts";

/** Pieces of work that end when told, and the order in which they began. */
function createWorks() {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const work = (name: string) => () => {
    begun.push(name);
    const end = Promise.withResolvers<void>();
    ends.set(name, end);
    return end.promise;
  };
  return {
    begun,
    work,
    end: (name: string) => ends.get(name)?.resolve(),
    fail: (name: string) => ends.get(name)?.reject(new Error(name)),
  };
}

const turn = () => new Promise(setImmediate);

it("runs one after the other, drops what would wait behind too many, and has room again", async () => {
  const { begun, work, end } = createWorks();
  const lane = new Lane(1);
  void lane.runIfRoom(work("a"));
  await turn();
  void lane.runIfRoom(work("b"));
  await lane.runIfRoom(work("dropped"));
  void lane.run(work("always"));
  await turn();
  expect(begun).toEqual(["a"]);
  end("a");
  await turn();
  expect(begun).toEqual(["a", "b"]);
  end("b");
  await turn();
  void lane.runIfRoom(work("c"));
  end("always");
  await turn();
  expect(begun).toEqual(["a", "b", "always", "c"]);
});

it("goes on after a failure, which the caller gets", async () => {
  const { begun, work, fail } = createWorks();
  const lane = new Lane(1);
  const failing = lane.run(work("a"));
  await turn();
  void lane.run(work("b"));
  fail("a");
  await expect(failing).rejects.toThrow("a");
  await turn();
  expect(begun).toEqual(["a", "b"]);
});
