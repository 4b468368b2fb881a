import { describe, expect, it } from "vitest";
import { DeadlineQueue } from "../../../src/gpu-runner/serving/deadline-queue.ts";
import { fc } from "../property.ts";

describe("the queue by deadline", () => {
  it("gives work in order of deadline, then of arrival, without what was removed", () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ act: fc.constant("add" as const), deadlineMs: fc.nat(5) }) },
      fc.record({ act: fc.constant("take" as const) }),
      fc.record({ act: fc.constant("remove" as const), index: fc.nat(40) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new DeadlineQueue<{ id: string; deadlineMs: number }>();
        let model: { id: string; deadlineMs: number }[] = [];
        for (const [number, next] of steps.entries()) {
          if (next.act === "add") {
            const work = { id: String(number), deadlineMs: next.deadlineMs };
            queue.add(work);
            model = [...model, work].toSorted((a, b) => a.deadlineMs - b.deadlineMs);
          } else if (next.act === "take") {
            expect(queue.takeFirst()).toBe(model.shift());
          } else {
            const id = model[next.index]?.id ?? "absent";
            expect(queue.remove(id)).toBe(model.find((work) => work.id === id));
            model = model.filter((work) => work.id !== id);
          }
          expect(queue.size).toBe(model.length);
        }
      }),
    );
  });
});
