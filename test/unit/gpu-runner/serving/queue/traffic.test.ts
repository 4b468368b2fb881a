import { describe, expect, it } from "vitest";
import type { Line } from "../../../../../src/gpu-runner/serving/queue/play-queue.ts";
import { Traffic } from "../../../../../src/gpu-runner/serving/queue/traffic.ts";
import { scriptLine, scriptRequest } from "./scripted-line.ts";

/** A row of the long network lasts ten milliseconds, and a little less in a batch. */
const long = scriptLine({ fixedMs: 2, rowMs: 8, maxRows: 8 });
const short = scriptLine({ fixedMs: 1, rowMs: 0, maxRows: 8 });

const one = (line: Line, priority = 0, rows = 1) => ({ line, priority, rows });

/** Traffic in which a request of a line came every so many milliseconds for half a second. */
function arrive(line: Line, everyMs: number, budgetMs: number, changes = {}): Traffic {
  const traffic = new Traffic();
  for (let atMs = 0; atMs < 500; atMs += everyMs) {
    traffic.note(scriptRequest(line, `r${atMs}`, atMs + budgetMs, changes), atMs);
  }
  return traffic;
}

describe("the size of a batch", () => {
  it("is the largest worthwhile one where nothing else comes", () => {
    expect(new Traffic().expectedAt(0).rowsOf(long)).toBe(8);
    expect(arrive(long, 5, 60).expectedAt(500).rowsOf(long)).toBe(8);
  });

  it("stays small where requests of another line come that could not wait for its end", () => {
    expect(arrive(short, 5, 15).expectedAt(500).rowsOf(long)).toBe(1);
    // They can wait: even a batch of eight ends before.
    expect(arrive(short, 5, 100).expectedAt(500).rowsOf(long)).toBe(8);
    // Two seconds ago is no more.
    expect(arrive(short, 5, 15).expectedAt(2_500).rowsOf(long)).toBe(8);
  });

  it("is not made smaller for requests of so many rows that they earn less", () => {
    const wide = scriptLine({ fixedMs: 0, rowMs: 1, maxRows: 1 });
    expect(arrive(wide, 5, 15).expectedAt(500).rowsOf(long)).toBe(1);
    expect(arrive(wide, 5, 24, { rows: 10 }).expectedAt(500).rowsOf(long)).toBe(8);
  });

  it("is not made smaller for a line that earns less", () => {
    expect(arrive(long, 5, 12).expectedAt(500).rowsOf(short)).toBe(8);
  });

  it("goes one beyond the measured sizes while the largest of them is the best", () => {
    const unknown = { ...long, times: { ...long.times, measuredRows: 1 } };
    expect(new Traffic().expectedAt(0).rowsOf(unknown)).toBe(2);
    const costly = scriptLine({ fixedMs: 0, rowMs: 10, maxRows: 8 });
    expect(new Traffic().expectedAt(0).rowsOf({ ...costly, times: { ...costly.times, measuredRows: 4 } })).toBe(1);
  });
});

describe("the share of the device that is kept free", () => {
  it("is that of lines that earn more, by what came lately", () => {
    // A hundred in half a second; the last 64 of them say one every five milliseconds, at an eighth of one each.
    const expected = arrive(short, 5, 15).expectedAt(500);
    expect(expected.shareAbove(one(long, 0), () => true)).toBeCloseTo(0.125 / 5, 2);
    expect(expected.shareAbove(one(short, 0), () => true)).toBe(0);
    expect(
      arrive(long, 5, 15)
        .expectedAt(500)
        .shareAbove(one(short, 0), () => true),
    ).toBe(0);
  });

  it("leaves out what has a lower priority", () => {
    expect(
      arrive(short, 5, 15, { priority: 1 })
        .expectedAt(500)
        .shareAbove(one(long, 1), () => true),
    ).toBeGreaterThan(0);
    expect(
      arrive(short, 5, 15, { priority: 0 })
        .expectedAt(500)
        .shareAbove(one(long, 1), () => true),
    ).toBe(0);
  });

  it("counts the rows of a request, of those to come as of the newcomer", () => {
    // An eighth of a millisecond a row: forty rows are five milliseconds.
    expect(
      arrive(short, 10, 15, { rows: 40 })
        .expectedAt(500)
        .shareAbove(one(long), () => true),
    ).toBeCloseTo(0.5, 2);
    expect(
      arrive(short, 10, 15, { rows: 80 })
        .expectedAt(500)
        .shareAbove(one(long), () => true),
    ).toBe(0);
    expect(
      arrive(short, 10, 15, { rows: 80 })
        .expectedAt(500)
        .shareAbove(one(long, 0, 2), () => true),
    ).toBeGreaterThan(0.5);
  });

  it("takes no single arrival for a burst", () => {
    const traffic = new Traffic();
    for (const atMs of [0, 1, 2]) traffic.note(scriptRequest(short, `r${atMs}`, 100), atMs);
    expect(traffic.expectedAt(10).shareAbove(one(long), () => true)).toBeCloseTo(0.125 * 0.003);
    traffic.note(scriptRequest(short, "r3", 100), 11);
    expect(traffic.expectedAt(20).shareAbove(one(long), () => true)).toBeCloseTo(0.125 * 0.04);
  });

  it("forgets the line that came least recently where there are too many", () => {
    const traffic = new Traffic();
    const note = (line: Line, atMs: number) => traffic.note(scriptRequest(line, `r${atMs}`, 500), atMs);
    note(short, 0);
    for (let number = 1; number < 64; number++) note(scriptLine({ fixedMs: 50 }), number);
    note(short, 64);
    note(scriptLine({ fixedMs: 50 }), 65);
    expect(traffic.expectedAt(100).shareAbove(one(long), () => true)).toBeGreaterThan(0);
  });

  it("never is all of it", () => {
    expect(
      arrive(scriptLine({ fixedMs: 8, rowMs: 0, maxRows: 1 }), 1, 15)
        .expectedAt(500)
        .shareAbove(one(long, 0), () => true),
    ).toBe(0.9);
  });
});
