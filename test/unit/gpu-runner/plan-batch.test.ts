import { describe, expect, it } from "vitest";
import { planBatch, type ServiceRules, type Waiting } from "../../../src/gpu-runner/serving/plan-batch.ts";
import { fc } from "../property.ts";

/** Five milliseconds and half a one a row; the tail is a quarter longer. */
const rules: ServiceRules = {
  serviceMs: (_, rows, confidence) => (5 + 0.5 * rows) * (confidence > 0.9 ? 1.25 : 1),
  maxRows: () => 16,
};

const request = (id: string, deadlineMs: number, changes: Partial<Waiting> = {}): Waiting => ({
  id,
  placement: "a",
  deadlineMs,
  priority: 0,
  confidence: 0.9,
  rows: 1,
  ...changes,
});
const ids = (list: readonly Waiting[]) => list.map(({ id }) => id);

const anyWaiting = fc.uniqueArray(
  fc.record({
    id: fc.string({ minLength: 1, maxLength: 4 }),
    placement: fc.constantFrom("a", "b"),
    deadlineMs: fc.double({ min: 0, max: 80, noNaN: true }),
    priority: fc.integer({ min: 0, max: 2 }),
    confidence: fc.constantFrom(0.5, 0.9, 0.99),
    rows: fc.integer({ min: 1, max: 4 }),
  }),
  { selector: ({ id }) => id, maxLength: 40 },
);

describe("a plan", () => {
  it("has only requests of one placement that are safe together, and dooms exactly the hopeless", () => {
    fc.assert(
      fc.property(anyWaiting, (waiting) => {
        const { doomed, batch } = planBatch(waiting, 10, rules);
        const rows = batch.reduce((sum, each) => sum + each.rows, 0);
        expect(new Set(batch.map(({ placement }) => placement)).size).toBeLessThanOrEqual(1);
        expect(rows).toBeLessThanOrEqual(16);
        for (const { confidence, deadlineMs } of batch) {
          expect(10 + rules.serviceMs("a", rows, confidence)).toBeLessThanOrEqual(deadlineMs);
        }
        const hopeless = waiting.filter(
          (each) => 10 + rules.serviceMs("a", each.rows, each.confidence) > each.deadlineMs,
        );
        expect(ids(doomed).toSorted()).toEqual(ids(hopeless).toSorted());
        expect(batch.length > 0).toBe(hopeless.length < waiting.length);
      }),
    );
  });

  it("is the same whatever the order of arrival", () => {
    fc.assert(
      fc.property(anyWaiting, (waiting) => {
        expect(ids(planBatch(waiting.toReversed(), 10, rules).batch)).toEqual(ids(planBatch(waiting, 10, rules).batch));
      }),
    );
  });

  it("takes the earliest deadline first and whatever can come along", () => {
    const waiting = [request("late", 100), request("early", 20), request("other", 15, { placement: "b" })];
    expect(ids(planBatch(waiting, 0, rules).batch)).toEqual(["other"]);
    expect(ids(planBatch(waiting.slice(0, 2), 0, rules).batch)).toEqual(["early", "late"]);
  });

  it("grows only while the earliest deadline stays safe, at its own confidence", () => {
    const crowd = Array.from({ length: 20 }, (_, index) => request(`c${index}`, 1_000));
    // 5 + 0.5·rows ≤ 8 for six rows; a quarter more of it, and it is two.
    expect(planBatch([request("tight", 8), ...crowd], 0, rules).batch).toHaveLength(6);
    expect(planBatch([request("tight", 8, { confidence: 0.99 }), ...crowd], 0, rules).batch).toHaveLength(2);
    expect(planBatch(crowd, 0, rules).batch).toHaveLength(16);
  });

  it("goes by priority before deadlines, and never pushes it aside for more answers", () => {
    const crowd = Array.from({ length: 16 }, (_, index) => request(`c${index}`, 13));
    const batch = ids(planBatch([...crowd, request("first", 6, { priority: 1 })], 0, rules).batch);
    expect(batch[0]).toBe("first");
  });

  it("lets one early deadline go where that saves many others", () => {
    // Alone with "tight" two rows fit, and nobody of the crowd would be in time behind it.
    const crowd = Array.from({ length: 16 }, (_, index) => request(`c${index}`, 13));
    const { batch, doomed } = planBatch([request("tight", 6), ...crowd], 0, rules);
    expect(doomed).toEqual([]);
    expect(batch).toHaveLength(16);
    expect(ids(batch)).not.toContain("tight");
  });

  it("has nothing to do for nobody", () => {
    expect(planBatch([], 0, rules)).toEqual({ doomed: [], batch: [] });
  });
});

describe("under twice the capacity", () => {
  /** Requests at even times, played against a scripted clock: how many are in time. */
  function play(choose: (waiting: readonly Waiting[], nowMs: number) => readonly Waiting[]): number {
    const gapMs = (5 + 0.5 * 16) / 16 / 2;
    const arrivals = Array.from({ length: 2_000 }, (_, index) => ({
      atMs: index * gapMs,
      request: request(String(index), index * gapMs + [12, 25, 60][index % 3]!),
    }));
    let waiting: Waiting[] = [];
    let inTime = 0;
    let nowMs = 0;
    while (arrivals.length > 0 || waiting.length > 0) {
      while (arrivals[0] !== undefined && arrivals[0].atMs <= nowMs) waiting.push(arrivals.shift()!.request);
      const batch = choose(waiting, nowMs);
      waiting = waiting.filter((each) => !batch.includes(each) && each.deadlineMs > nowMs);
      if (batch.length > 0) nowMs += 5 + 0.5 * batch.length;
      else nowMs = Math.max(nowMs + 0.1, arrivals[0]?.atMs ?? 0);
      inTime += batch.filter(({ deadlineMs }) => deadlineMs >= nowMs).length;
    }
    return inTime;
  }

  it("answers more in time than first come, first served with timeouts, and than earliest deadlines alone", () => {
    const ours = play((waiting, nowMs) => planBatch(waiting, nowMs, rules).batch);
    const fifo = play((waiting) => waiting.slice(0, 16));
    const earliest = play((waiting, nowMs) => {
      const order = waiting
        .filter(({ deadlineMs }) => deadlineMs >= nowMs + 5.5)
        .toSorted((a, b) => a.deadlineMs - b.deadlineMs);
      const rows = Math.floor(((order[0]?.deadlineMs ?? 0) - nowMs - 5) / 0.5);
      return order.slice(0, Math.min(16, Math.max(1, rows)));
    });
    // Half of the offered requests are what the device can do at all.
    expect(ours).toBeGreaterThan(0.85 * 1_000);
    expect(ours).toBeGreaterThan(1.3 * fifo);
    expect(ours).toBeGreaterThan(1.05 * earliest);
  });
});
