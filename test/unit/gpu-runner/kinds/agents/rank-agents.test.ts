import { expect, it } from "vitest";
import { rankAgents } from "../../../../../src/gpu-runner/kinds/evolution.ts";

it("lower fronts come first, then the less crowded, then the first", () => {
  const fitness = rankAgents([1, 0, 0, 1, 0], [9, 0.5, 3.4e38, 2, 0.5]);
  const order = [...fitness.keys()].toSorted((a, b) => fitness[b]! - fitness[a]!);
  expect(order).toEqual([2, 1, 4, 0, 3]);
  expect(new Set(fitness).size).toBe(5);
});
