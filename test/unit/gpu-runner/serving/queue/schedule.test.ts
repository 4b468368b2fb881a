import { describe, expect, it } from "vitest";
import type { Waiting } from "../../../../../src/gpu-runner/serving/queue/play-queue.ts";
import { levelOf } from "../../../../../src/gpu-runner/serving/queue/service-times.ts";
import { LIMITS } from "../../../../../src/protocol/wire/limits.ts";
import { fc } from "../../../property.ts";
import { type Arrival, OURS, playDevice, type Policy } from "./play-device.ts";
import { scriptLine, scriptRequest } from "./scripted-line.ts";

/** Whole milliseconds, so that sums are exact. */
const lines = [
  scriptLine({ fixedMs: 4, rowMs: 1, maxRows: 8 }),
  scriptLine({ fixedMs: 9, rowMs: 3, maxRows: 4 }),
  scriptLine({ fixedMs: 5, rowMs: 2, joins: false }),
];

const anyArrivals = fc
  .array(
    fc.record({
      afterMs: fc.integer({ min: 0, max: 6 }),
      line: fc.constantFrom(...lines),
      budgetMs: fc.integer({ min: 1, max: 120 }),
      level: fc.constantFrom(levelOf(0.5), levelOf(0.99)),
      rows: fc.integer({ min: 1, max: 3 }),
    }),
    { maxLength: 120 },
  )
  .map((steps) => {
    let atMs = 0;
    return steps.map(({ afterMs, line, budgetMs, level, rows }, index): Arrival => {
      atMs += afterMs;
      const id = String(index).padStart(4, "0");
      return { atMs, request: scriptRequest(line, id, atMs + budgetMs, { level, rows }) };
    });
  });

describe("a device whose times are exact", () => {
  it("answers whomever it let in, in time", () => {
    fc.assert(
      fc.property(anyArrivals, (arrivals) => {
        const { admitted, answered } = playDevice(arrivals, OURS);
        expect([...admitted].toSorted()).toEqual([...answered].toSorted());
      }),
    );
  });

  it("refuses no request that it could answer at once", () => {
    fc.assert(
      fc.property(anyArrivals, (arrivals) => {
        const spaced = arrivals.map(({ atMs, request }, index) => ({
          atMs: atMs + index * 1_000,
          request: { ...request, deadlineMs: request.deadlineMs + index * 1_000 },
        }));
        const fits = spaced.filter(
          ({ atMs, request }) => atMs + request.line.times.expectedMs(request.rows) <= request.deadlineMs,
        );
        expect([...playDevice(spaced, OURS).answered]).toEqual(fits.map(({ request }) => request.id));
      }),
    );
  });

  it("never makes a batch larger than its bounds", () => {
    fc.assert(
      fc.property(anyArrivals, (arrivals) => {
        for (const batch of playDevice(arrivals, OURS).batches) {
          const { line } = batch[0]!;
          expect(batch.every((each) => each.line === line)).toBe(true);
          if (batch.length > 1) {
            expect(line.joins).toBe(true);
            expect(batch.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(line.times.maxRows);
          }
        }
      }),
    );
  });
});

describe("at twice what the device can do", () => {
  const line = lines[0]!;
  const arrivals = Array.from({ length: 4_000 }, (_, index): Arrival => {
    const atMs = index * (line.times.expectedMs(8) / 8 / 2);
    return { atMs, request: scriptRequest(line, String(index).padStart(5, "0"), atMs + [15, 30, 80][index % 3]!) };
  });
  const answers = (policy: Policy) => playDevice(arrivals, policy).answered.size;
  /** In order of arrival, as many as the largest batch takes. */
  const fifo: Policy = {
    admit: (order, newcomer) => [...order, newcomer],
    choose: (order) => ({ batch: order.slice(0, 8), doomed: [] }),
  };
  const fifoWithTimeouts: Policy = {
    ...fifo,
    choose: (order, nowMs) => {
      const isOver = ({ deadlineMs }: Waiting) => deadlineMs <= nowMs;
      return {
        batch: order.filter((each) => !isOver(each)).slice(0, 8),
        doomed: order.filter(isOver),
      };
    },
  };

  it("brings three times as many answers in time as first in, first out, and more than with timeouts", () => {
    const ours = answers(OURS);
    expect(ours).toBeGreaterThan(3 * answers(fifo));
    expect(ours).toBeGreaterThan(1.3 * answers(fifoWithTimeouts));
    // Half of the arrivals is the most that could be done.
    expect(ours).toBeGreaterThan(0.95 * 2_000);
  });

  it("leaves the device no more to decide about than may wait", () => {
    const endless = arrivals.map(({ atMs, request }) => ({ atMs, request: { ...request, deadlineMs: atMs + 1e6 } }));
    let longest = 0;
    playDevice(endless, {
      ...OURS,
      choose: (order, nowMs) => {
        longest = Math.max(longest, order.length);
        return OURS.choose(order, nowMs);
      },
    });
    expect(longest).toBeGreaterThan(LIMITS.deviceQueueRequests - 8);
    expect(longest).toBeLessThanOrEqual(LIMITS.deviceQueueRequests);
  });
});
