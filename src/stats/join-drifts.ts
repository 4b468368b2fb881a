import type { Boundary } from "./confirm-boundaries.ts";
import { fitRamp } from "./fit-ramp.ts";
import { studentTTwoSided } from "./student-t.ts";

/** A boundary, or a slope in the place of several: level before from `start`, level after until `end`. */
export interface Transition extends Omit<Boundary, "difference"> {
  readonly kind: "step" | "drift";
  /** Of the first value that has the level after in full; `end` at most. */
  readonly completeIndex: number;
}

/** How much Bayes' information criterion has to prefer a slope; Kass and Raftery, JASA 90, 1995, call it very strong. */
const VERY_STRONG = 10;
const RAMP_PARAMETERS = 4;

/**
 * Boundaries in order, where each run of them in one direction, the longest first, that a slope explains better than
 * levels is one drift. A slope is at least `shortest` values long.
 */
export function joinDrifts(
  values: Float64Array,
  boundaries: readonly Boundary[],
  shortest: number,
): readonly Transition[] {
  const [first] = boundaries;
  if (first === undefined) return [];
  const turn = boundaries.findIndex(({ difference }) => Math.sign(difference) !== Math.sign(first.difference));
  const longest = turn < 0 ? boundaries.length : turn;
  for (let length = longest; length > 0; length--) {
    const drift = findDrift(values, boundaries.slice(0, length), shortest);
    if (drift !== null) return [drift, ...joinDrifts(values, boundaries.slice(length), shortest)];
  }
  const step = { ...first, kind: "step", completeIndex: first.index } as const;
  return [step, ...joinDrifts(values, boundaries.slice(1), shortest)];
}

function findDrift(values: Float64Array, steps: readonly Boundary[], shortest: number): Transition | null {
  const [first, last] = [steps[0]!, steps.at(-1)!];
  const count = last.end - first.start;
  const ramp = fitRamp(values, first.start, first.index, last.index, last.end);
  if (ramp.end - ramp.start < shortest) return null;
  const edges = [first.start, ...steps.map(({ index }) => index), last.end];
  const squares = edges.slice(1).reduce((sum, end, at) => sum + sumSquares(values.subarray(edges[at], end)), 0);
  // A place for each step, and a level for each segment.
  const parameters = 2 * steps.length + 1;
  const preference = count * Math.log(squares / ramp.squares) + (parameters - RAMP_PARAMETERS) * Math.log(count);
  if (!(preference > VERY_STRONG)) return null;
  const degreesOfFreedom = count - RAMP_PARAMETERS;
  return {
    kind: "drift",
    start: first.start,
    index: ramp.start,
    completeIndex: ramp.end,
    end: last.end,
    from: ramp.from,
    to: ramp.to,
    standardError: ramp.standardError,
    degreesOfFreedom,
    p: studentTTwoSided((ramp.to - ramp.from) / ramp.standardError, degreesOfFreedom),
  };
}

function sumSquares(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
}
