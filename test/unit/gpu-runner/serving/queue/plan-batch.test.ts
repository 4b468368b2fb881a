import { describe, expect, it } from "vitest";
import { NOTHING, planBatch, type Waiting } from "../../../../../src/gpu-runner/serving/queue/play-queue.ts";
import { levelOf } from "../../../../../src/gpu-runner/serving/queue/service-times.ts";
import { byUrgency } from "../../../../../src/gpu-runner/serving/queue/urgency.ts";
import { LIMITS } from "../../../../../src/protocol/wire/limits.ts";
import { fc } from "../../../property.ts";
import { idsOf, scriptLine, scriptRequest } from "./scripted-line.ts";

/** Five milliseconds and half a one a row; the tail is a quarter longer. */
const a = scriptLine({ tail: 1.25 });
const b = scriptLine({ tail: 1.25 });
const alone = scriptLine({ joins: false });
const request = (id: string, deadlineMs: number, changes: Partial<Waiting> = {}) =>
  scriptRequest(a, id, deadlineMs, changes);
const plan = (waiting: readonly Waiting[], nowMs = 0) => planBatch(waiting.toSorted(byUrgency), nowMs);

const anyQueue = fc
  .uniqueArray(
    fc.record({
      id: fc.string({ minLength: 1, maxLength: 4 }),
      line: fc.constantFrom(a, b, alone),
      deadlineMs: fc.double({ min: 0, max: 80, noNaN: true }),
      priority: fc.integer({ min: 0, max: 2 }),
      level: fc.constantFrom(levelOf(0.5), levelOf(0.9), levelOf(0.99)),
      rows: fc.integer({ min: 1, max: 20 }),
      sizeBytes: fc.constantFrom(4, LIMITS.batchBytes / 2, 2 * LIMITS.batchBytes),
    }),
    { selector: ({ id }) => id, maxLength: 40 },
  )
  .map((waiting) => waiting.toSorted(byUrgency));

describe("a plan", () => {
  it("has requests of one line, no more than a batch may hold, each safe at its own confidence unless it is alone", () => {
    fc.assert(
      fc.property(anyQueue, (waiting) => {
        const { doomed, batch } = planBatch(waiting, 10);
        expect(new Set(batch.map(({ line }) => line)).size).toBeLessThanOrEqual(1);
        if (batch.length > 1) {
          const rows = batch.reduce((sum, each) => sum + each.rows, 0);
          expect(batch[0]?.line.joins).toBe(true);
          expect(rows).toBeLessThanOrEqual(16);
          expect(batch.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBeLessThanOrEqual(LIMITS.batchBytes);
          for (const { line, level, deadlineMs } of batch) {
            expect(10 + line.times.quantileMs(rows, level)).toBeLessThanOrEqual(deadlineMs);
          }
        }
        const hopeless = waiting.filter((each) => 10 + each.line.times.expectedMs(each.rows) > each.deadlineMs);
        expect(idsOf(doomed)).toEqual(idsOf(hopeless));
        expect(batch.length > 0).toBe(hopeless.length < waiting.length);
      }),
    );
  });

  it("takes the earliest deadline first and whatever can come along", () => {
    const waiting = [request("late", 100), request("early", 20), scriptRequest(b, "other", 15)];
    expect(idsOf(plan(waiting).batch)).toEqual(["other"]);
    expect(idsOf(plan(waiting.slice(0, 2)).batch)).toEqual(["early", "late"]);
  });

  it("grows only while the earliest deadline stays safe, at its own confidence", () => {
    const crowd = Array.from({ length: 20 }, (_, index) => request(`c${index}`, 1_000));
    // 5 + 0.5·rows ≤ 8 for six rows; a quarter more of it, and it is two.
    expect(plan([request("tight", 8), ...crowd]).batch).toHaveLength(6);
    expect(plan([request("tight", 8, { level: levelOf(0.99) }), ...crowd]).batch).toHaveLength(2);
    expect(plan(crowd).batch).toHaveLength(16);
  });

  it("keeps what would spoil the batch out of it, and takes those behind", () => {
    const crowd = Array.from({ length: 4 }, (_, index) => request(`c${index}`, 1_000));
    const large = request("large", 30, { rows: 12 });
    expect(idsOf(plan([request("tight", 8), large, ...crowd]).batch)).toEqual(["tight", "c0", "c1", "c2", "c3"]);
    // Three rows need 6.5 ms, and not more than 8.1.
    const sure = request("sure", 8.05, { level: levelOf(0.99) });
    expect(idsOf(plan([request("tight", 8), request("next", 8.01), sure]).batch)).toEqual(["tight", "next"]);
  });

  it("stays small enough for a more urgent request of another line", () => {
    const crowd = Array.from({ length: 20 }, (_, index) => request(`c${index}`, 1_000));
    // It needs 5.5 ms, so that this batch may take 6.5.
    expect(plan([request("first", 11), scriptRequest(b, "other", 12), ...crowd]).batch).toHaveLength(3);
    // Nothing helps one that is late behind the smallest batch, and one that is less urgent has to wait.
    expect(plan([request("first", 10), scriptRequest(b, "other", 10.9), ...crowd]).batch).toHaveLength(10);
    const second = Array.from({ length: 3 }, (_, index) => request(`d${index}`, 13));
    expect(plan([request("first", 12), ...second, scriptRequest(b, "other", 13.1)]).batch).toHaveLength(4);
  });

  it("computes what joins no other one by one", () => {
    expect(plan([scriptRequest(alone, "x", 90), scriptRequest(alone, "y", 90)]).batch).toHaveLength(1);
  });

  it("goes by priority before deadlines, and never pushes it aside for more answers", () => {
    const crowd = Array.from({ length: 16 }, (_, index) => request(`c${index}`, 13));
    expect(idsOf(plan([...crowd, request("first", 6, { priority: 1 })]).batch)[0]).toBe("first");
  });

  it("lets one early deadline wait where that saves many others", () => {
    // Alone with "tight" two rows fit, and none of the crowd would be in time after it.
    const crowd = Array.from({ length: 16 }, (_, index) => request(`c${index}`, 13));
    const { batch, doomed } = plan([request("tight", 6), ...crowd]);
    expect(doomed).toEqual([]);
    expect(batch).toHaveLength(16);
    expect(idsOf(batch)).not.toContain("tight");
  });

  it("begins what is no longer safe but may well be in time, alone", () => {
    const risky = request("risky", 6, { level: levelOf(0.99) });
    expect(plan([risky, request("other", 1_000)])).toMatchObject({ doomed: [], batch: [risky] });
  });

  it("makes no batch larger than is worthwhile, but by a single request", () => {
    const crowd = Array.from({ length: 20 }, (_, index) => request(`c${index}`, 1_000));
    const expected = { ...NOTHING, rowsOf: () => 3 };
    expect(planBatch(crowd.toSorted(byUrgency), 0, expected).batch).toHaveLength(3);
    expect(planBatch([request("large", 1_000, { rows: 5 }), ...crowd], 0, expected).batch).toHaveLength(1);
  });

  it("says how long all of it is expected to take", () => {
    const crowd = Array.from({ length: 20 }, (_, index) => request(`c${index}`, 1_000));
    expect(plan(crowd).backlogMs(undefined)).toBe(5 + 0.5 * 16 + 5 + 0.5 * 4);
    expect(plan([])).toMatchObject({ doomed: [], batch: [] });
    expect(plan([]).backlogMs(undefined)).toBe(0);
  });
});
