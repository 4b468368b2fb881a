import { expect, test } from "vitest";
import { boundGoodput, type KnownRequest } from "../../../../bench/goodput/bound-goodput.ts";
import { fc } from "../../property.ts";

/** Two rows cost as much as one and a half, three as much as two. */
const BATCH_MS = { policy: [2, 3, 4], vision: [6, 8, 10] };

const request = (model: KnownRequest["model"], arrivalMs: number, budgetMs: number, rows = 1): KnownRequest => ({
  model,
  arrivalMs,
  deadlineMs: arrivalMs + budgetMs,
  rows,
});

/** The most that any schedule answers in time: every order and every batching, on whole milliseconds. */
function findOptimum(requests: readonly KnownRequest[], nowMs = 0): number {
  const soonest = Math.min(...requests.map(({ arrivalMs }) => arrivalMs));
  const startMs = Math.max(nowMs, soonest);
  const left = requests.filter(({ deadlineMs }) => deadlineMs > startMs);
  if (left.length === 0) return 0;
  // Waiting for the next arrival is a choice, too.
  const later = left.map(({ arrivalMs }) => arrivalMs).filter((atMs) => atMs > startMs);
  let best = later.length === 0 ? 0 : findOptimum(left, Math.min(...later));
  for (let chosen = 1; chosen < 2 ** left.length; chosen++) {
    const batch = left.filter((_, index) => chosen & (1 << index));
    const { model } = batch[0]!;
    const rows = batch.reduce((sum, each) => sum + each.rows, 0);
    const endMs = startMs + (BATCH_MS[model][rows - 1] ?? Infinity);
    const isSound = batch.every(
      (each) => each.model === model && each.arrivalMs <= startMs && endMs <= each.deadlineMs,
    );
    if (!isSound) continue;
    const rest = left.filter((each) => !batch.includes(each));
    best = Math.max(best, batch.length + findOptimum(rest, endMs));
  }
  return best;
}

test("a request that no batch could serve in time counts for nothing", () => {
  expect(boundGoodput([request("vision", 0, 5)], BATCH_MS)).toBe(0);
  expect(boundGoodput([request("vision", 0, 6)], BATCH_MS)).toBeCloseTo(1);
  expect(boundGoodput([request("vision", 0, 9, 3)], BATCH_MS)).toBe(0);
  expect(boundGoodput([request("vision", 0, 10, 3)], BATCH_MS)).toBeCloseTo(1);
  expect(boundGoodput([], BATCH_MS)).toBe(0);
});

test("requests share a batch only where they are there together in time", () => {
  const apart = [request("policy", 0, 2), request("policy", 2, 2)];
  expect(boundGoodput(apart, BATCH_MS)).toBeCloseTo(2);
  // In the same window alone they need 4 ms of 3; together 3.
  const together = [request("policy", 0, 3), request("policy", 0, 3)];
  expect(boundGoodput(together, BATCH_MS)).toBeCloseTo(2);
  // The second comes too late to join the first, and there is time for one and a half.
  const overlapping = [request("policy", 0, 2), request("policy", 1, 2)];
  expect(boundGoodput(overlapping, BATCH_MS)).toBeCloseTo(1.5);
});

test("where not all fit the cheap ones are counted first", () => {
  const requests = [request("vision", 0, 6), request("policy", 0, 6)];
  // 2 ms of the 6 go to the small one, which leaves two thirds of the large one.
  expect(boundGoodput(requests, BATCH_MS)).toBeCloseTo(1 + 4 / 6);
});

test("no schedule beats the bound", () => {
  const anyRequest = fc
    .tuple(
      fc.constantFrom("policy" as const, "vision" as const),
      fc.nat({ max: 12 }),
      fc.integer({ min: 1, max: 14 }),
      fc.integer({ min: 1, max: 3 }),
    )
    .map(([model, arrivalMs, budgetMs, rows]) => request(model, arrivalMs, budgetMs, rows));
  fc.assert(
    fc.property(fc.array(anyRequest, { maxLength: 6 }), (requests) => {
      const bound = boundGoodput(requests, BATCH_MS);
      expect(bound).toBeGreaterThanOrEqual(findOptimum(requests) - 1e-9);
      expect(bound).toBeLessThanOrEqual(requests.length + 1e-9);
    }),
    { numRuns: 300 },
  );
});
