import { expect, test } from "vitest";
import type { TraceOutcome } from "../../../../bench/goodput/put-trace.ts";
import { scoreRound } from "../../../../bench/goodput/score-round.ts";
import { createTrace, type Trace } from "../../../../bench/goodput/trace.ts";

const outcome = (status: number | null, latencyMs: number, lagMs = 0): TraceOutcome => ({ status, latencyMs, lagMs });

function traceOf(budgetsMs: readonly number[]): Trace {
  return {
    arrivalsMs: Float64Array.from(budgetsMs, (_, index) => index),
    requests: budgetsMs.map((budgetMs) => ({ model: "policy", budgetMs, row: 0, rows: 1 })),
    durationMs: 2_000,
  };
}

test("what is late, dropped or never answered was admitted, what is refused was not", () => {
  const trace = traceOf([10, 10, 10, 10, 10, 10]);
  const outcomes = [
    outcome(200, 10),
    outcome(200, 10.1),
    outcome(504, 9),
    outcome(null, 300),
    outcome(503, 1),
    outcome(422, 1, 4),
  ];
  expect(scoreRound(trace, outcomes)).toEqual({
    goodput: 0.5,
    "in budget of admitted": 25,
    refused: (100 * 2) / 6,
    p50: 10.1,
    p99: 300,
    "p99 lateness of the generator": 4,
  });
});

test("where all was refused nothing is left to say of the admitted", () => {
  const score = scoreRound(traceOf([10, 10]), [outcome(503, 1), outcome(503, 2)]);
  expect(score).toMatchObject({ goodput: 0, "in budget of admitted": 0, refused: 100, p50: 0, p99: 0 });
});

test("a trace is that of its seed, and half of it comes in bursts", () => {
  const trace = createTrace(2_000, 7);
  expect(createTrace(2_000, 7)).toEqual(trace);
  expect(createTrace(2_000, 8).arrivalsMs).not.toEqual(trace.arrivalsMs);
  const { arrivalsMs, requests, durationMs } = trace;
  expect(arrivalsMs.every((at, index) => index === 0 || at >= arrivalsMs[index - 1]!)).toBe(true);
  const half = durationMs / 2;
  const calm = arrivalsMs.filter((at) => at < half).length;
  // Five standard deviations of a Poisson count.
  expect(Math.abs(calm - 2 * half)).toBeLessThan(5 * Math.sqrt(2 * half));
  expect(Math.abs(arrivalsMs.length - calm - 2 * half)).toBeLessThan(5 * Math.sqrt(2 * half));
  // A fifth of the time at 2.5 times the density of the rest holds 0.385 of the requests.
  const inBursts = arrivalsMs.filter((at) => at >= half && (at - half) % 500 < 100).length;
  expect(inBursts / (arrivalsMs.length - calm)).toBeCloseTo(0.385, 1);
  const budgets = Float64Array.from(requests, ({ budgetMs }) => budgetMs).toSorted();
  expect(budgets[0]).toBeGreaterThanOrEqual(5);
  expect(budgets.at(-1)).toBeLessThanOrEqual(200);
  // The middle of log-uniform budgets is the geometric mean of their ends.
  expect(Math.log(budgets[budgets.length >> 1]!)).toBeCloseTo(Math.log(Math.sqrt(5 * 200)), 0);
});
