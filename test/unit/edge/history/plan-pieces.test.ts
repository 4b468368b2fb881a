import { describe, expect, it } from "vitest";
import { planPieces } from "../../../../src/edge/history/rollup/plan-pieces.ts";
import { fc } from "../../property.ts";

const [DAY_MS, HOUR_MS, MINUTE_MS] = [86_400_000, 3_600_000, 60_000];
const NOW_MS = Date.parse("2026-11-21T12:34:56.789Z");
const KEPT = { minutesMs: NOW_MS - 14 * DAY_MS, hoursMs: NOW_MS - 400 * DAY_MS };
const moment = fc.integer({ min: NOW_MS - 800 * DAY_MS, max: NOW_MS });

describe("the pieces of a span", () => {
  it("follow each other, are whole, kept and few, and hold what was asked for", () => {
    fc.assert(
      fc.property(moment, fc.integer({ min: 1, max: 500 * DAY_MS }), (fromMs, lengthMs) => {
        const asked = { fromMs, toMs: fromMs + lengthMs };
        const { span, pieces } = planPieces(asked, KEPT);
        expect(span.fromMs).toBeLessThanOrEqual(asked.fromMs);
        expect(span.toMs).toBeGreaterThanOrEqual(asked.toMs);
        expect(pieces.at(0)?.span.fromMs).toBe(span.fromMs);
        expect(pieces.at(-1)?.span.toMs).toBe(span.toMs);
        for (const [index, piece] of pieces.entries()) {
          expect(piece.span.fromMs % piece.stepMs).toBe(0);
          expect(piece.span.toMs % piece.stepMs).toBe(0);
          expect(piece.span.toMs).toBeGreaterThan(piece.span.fromMs);
          if (index > 0) expect(piece.span.fromMs).toBe(pieces[index - 1]?.span.toMs);
          if (piece.stepMs === MINUTE_MS) expect(piece.span.fromMs).toBeGreaterThanOrEqual(KEPT.minutesMs);
          if (piece.stepMs === HOUR_MS) expect(piece.span.fromMs).toBeGreaterThanOrEqual(KEPT.hoursMs);
        }
        const rows = (stepMs: number) =>
          pieces
            .filter((piece) => piece.stepMs === stepMs)
            .reduce((sum, piece) => sum + (piece.span.toMs - piece.span.fromMs) / stepMs, 0);
        expect(rows(HOUR_MS)).toBeLessThanOrEqual(46);
        expect(rows(MINUTE_MS)).toBeLessThanOrEqual(118);
        // It is widened only to the kept resolution.
        const widened = (atMs: number) => (atMs >= NOW_MS - 13 * DAY_MS ? MINUTE_MS : DAY_MS);
        expect(asked.fromMs - span.fromMs).toBeLessThan(widened(asked.fromMs));
        expect(span.toMs - asked.toMs).toBeLessThan(widened(asked.toMs));
      }),
      { numRuns: 500 },
    );
  });

  it("are four weeks in the middle and days at the ends where the span is whole days", () => {
    const fromMs = Date.parse("2026-01-01T00:00:00Z");
    const span = { fromMs, toMs: fromMs + 300 * DAY_MS };
    const { span: read, pieces } = planPieces(span, KEPT);
    expect(read).toEqual(span);
    expect(pieces.map(({ stepMs }) => stepMs)).toEqual([DAY_MS, 28 * DAY_MS, DAY_MS]);
    const rows = pieces.map((piece) => (piece.span.toMs - piece.span.fromMs) / piece.stepMs);
    expect(rows[0]! + 28 * rows[1]! + rows[2]!).toBe(300);
    expect(Math.max(rows[0]!, rows[2]!)).toBeLessThan(28);
  });

  it("are one where the span is days of less than four weeks", () => {
    const fromMs = Date.parse("2026-01-01T00:00:00Z");
    const span = { fromMs, toMs: fromMs + 3 * DAY_MS };
    expect(planPieces(span, KEPT)).toEqual({ span, pieces: [{ span, stepMs: DAY_MS }] });
  });
});
