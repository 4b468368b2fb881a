import * as fc from "fast-check";
import { expect, test } from "vitest";
import { partMembers, planPopulation } from "../../../../src/gpu-runner/rollout/gpu/member-parts.ts";

test("parts are all members, in order, and begin at even ones", () => {
  const members = fc.integer({ min: 1, max: 10_000 });
  const mostMembers = fc.double({ min: 0, max: 20_000, noNaN: true });
  fc.assert(
    fc.property(members, mostMembers, (count, most) => {
      const parts = partMembers(count, most);
      const ends = parts.map((part) => part.first + part.count);
      expect(parts.map(({ first }) => first)).toEqual([0, ...ends.slice(0, -1)]);
      expect(ends.at(-1)).toBe(count);
      expect(parts.every((part) => part.first % 2 === 0 && part.count > 0)).toBe(true);
      expect(Math.max(...parts.map((part) => part.count))).toBeLessThanOrEqual(Math.max(2, most));
    }),
  );
});

test("a population stands on the device where half of its room is enough, and parts fit a binding", () => {
  const slot = { largestBytes: 16, totalBytes: 40 };
  const limits = { bindingBytes: 2 ** 27, hostBytes: 2 ** 30 };
  const roomy = planPopulation(4_096, 226, slot, { ...limits, totalBytes: Number.POSITIVE_INFINITY });
  expect(roomy).toMatchObject({ parts: [{ first: 0, count: 4_096 }], resident: true, waveSlots: 2 ** 23 });
  const large = planPopulation(2 ** 20, 226, slot, { ...limits, totalBytes: Number.POSITIVE_INFINITY });
  expect(large.resident).toBe(true);
  expect(large.parts).toHaveLength(8);
  const tight = planPopulation(2 ** 20, 226, slot, { ...limits, totalBytes: 2 ** 28 });
  expect(tight.resident).toBe(false);
  for (const { count } of tight.parts) expect(4 * 226 * count).toBeLessThanOrEqual(2 ** 27);
});

test("what neither the device nor the host has room for is refused before any of it is written", () => {
  const slot = { largestBytes: 16, totalBytes: 40 };
  const room = { bindingBytes: 2 ** 27, totalBytes: 2 ** 28, hostBytes: 4 * 226 * 2 ** 20 };
  expect(planPopulation(2 ** 20, 226, slot, room).resident).toBe(false);
  expect(() => planPopulation(2 ** 20, 227, slot, room)).toThrow("bytes of weights exceed half");
});
