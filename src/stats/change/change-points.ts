import { findBestSplit, measureDistances, pairwiseSum } from "./best-split.ts";
import { studentTTwoSided } from "../distribution/student-t.ts";

/** A change of a series' level: `index` is the first value of the new regime. */
export interface ChangePoint {
  readonly index: number;
  /** p-value of the t-test between the neighbouring segments; NaN where all their values are equal. */
  readonly p: number;
  readonly meanBefore: number;
  readonly meanAfter: number;
  /** Population standard deviation (divided by n). */
  readonly standardDeviationBefore: number;
  readonly standardDeviationAfter: number;
  /** `meanAfter / meanBefore − 1`; 0 where there is no ratio. */
  readonly relativeChange: number;
}

export interface ChangePointSettings {
  /** Values that are looked at together; 2 or more. */
  readonly windowPoints?: number;
  /** A change point's p is below it. */
  readonly maxP?: number;
  /** A change point's relative change, of the larger by the smaller mean, is above it. */
  readonly minMagnitude?: number;
}

/**
 * Change points of a series of finite numbers, in order: the same as Apache Otava's (formerly Hunter) for the same
 * settings (Fleming et al., "Hunter: Using Change Point Detection to Hunt for Performance Regressions", ICPE 2023).
 * E-divisive splits windows that advance by half a window, or to the last change point in it, as long as the t-test of
 * a split is significant at a relaxed level; then the weakest are taken away until all are significant by whole
 * segments. Throws a RangeError where a value is not finite or the window is too short.
 */
export function findChangePoints(
  values: ArrayLike<number>,
  { windowPoints = 50, maxP = 0.001, minMagnitude = 0 }: ChangePointSettings = {},
): readonly ChangePoint[] {
  const series = Float64Array.from(values);
  if (!series.every(Number.isFinite)) throw new RangeError("a series is of finite numbers");
  if (!(windowPoints >= 2)) throw new RangeError("a window holds two values or more");
  return mergeWeak(series, findWeak(series, windowPoints, relaxP(maxP)), maxP, minMagnitude);
}

interface Segment {
  readonly count: number;
  readonly mean: number;
  /** Population standard deviation. */
  readonly deviation: number;
}

/** The first pass lets ten times as much through, as Otava has it; twice as much from 0.05 on, and nothing more from 0.5. */
function relaxP(maxP: number): number {
  if (maxP < 0.05) return maxP * 10;
  return maxP < 0.5 ? maxP * 2 : maxP;
}

/** Indices at which the windows split, in order. */
function findWeak(series: Float64Array, windowPoints: number, maxP: number): number[] {
  const found = new Set<number>();
  const step = Math.trunc(windowPoints / 2);
  for (let start = 0; start < series.length;) {
    const inside = splitWindow(series.slice(start, start + windowPoints), maxP).map((index) => index + start);
    for (const index of inside) found.add(index);
    start = Math.max(inside.at(-1) ?? 0, start + step);
  }
  return [...found].toSorted((a, b) => a - b);
}

/** Splits a window at the clearest place of all segments, until that one is not significant. Indices, in order. */
function splitWindow(window: Float64Array, maxP: number): readonly number[] {
  const distances = measureDistances(window);
  const candidate = (start: number, end: number) => ({ start, end, ...findBestSplit(distances, start, end) });
  let segments = window.length < 2 ? [] : [candidate(0, window.length)];
  const splits: number[] = [];
  while (segments.length > 0) {
    const { start, end, index } = segments.reduce((best, next) => (next.divergence > best.divergence ? next : best));
    const { p } = compareSegments(window, start, index, end);
    // Not the same as `p > maxP`: equal values have no p.
    if (!(p <= maxP)) break;
    splits.push(index);
    segments = segments.flatMap((segment) =>
      segment.start !== start
        ? [segment]
        : [
            ...(index - start > 1 ? [candidate(start, index)] : []),
            ...(end - index > 1 ? [candidate(index, end)] : []),
          ],
    );
  }
  return splits.toSorted((a, b) => a - b);
}

/**
 * Takes away the change point with the largest p until all are below `maxP`, then that of the smallest magnitude until
 * all are above `minMagnitude`. The two behind it are judged anew, as Otava has it; the one before it keeps the figures
 * that it had until the end, when all get those of the segments that are left.
 */
function mergeWeak(
  series: Float64Array,
  indices: readonly number[],
  maxP: number,
  minMagnitude: number,
): ChangePoint[] {
  const judge = (_: unknown, at: number, all: readonly { index: number }[]) =>
    compareSegments(series, all[at - 1]?.index ?? 0, all[at]?.index ?? 0, all[at + 1]?.index ?? series.length);
  let points = indices.map((index) => ({ index })).map(judge);
  while (points.length > 0) {
    let weakest = points.reduce((worst, next) => (next.p > worst.p ? next : worst));
    if (weakest.p < maxP) {
      weakest = points.reduce((worst, next) => (measureMagnitude(next) < measureMagnitude(worst) ? next : worst));
      if (measureMagnitude(weakest) > minMagnitude) break;
    }
    const at = points.indexOf(weakest);
    const kept = points.toSpliced(at, 1);
    points = kept.map((point, place) => (place === at || place === at + 1 ? judge(point, place, kept) : point));
  }
  return points.map(judge);
}

function measureMagnitude({ meanBefore, meanAfter }: ChangePoint): number {
  return Math.max(Math.abs(relate(meanBefore, meanAfter)), Math.abs(relate(meanAfter, meanBefore)));
}

/** Student's two-sided t-test with pooled variance between `[start, index)` and `[index, end)`. */
function compareSegments(values: Float64Array, start: number, index: number, end: number): ChangePoint {
  const before = describe(values, start, index);
  const after = describe(values, index, end);
  return {
    index,
    p: testMeans(before, after),
    meanBefore: before.mean,
    meanAfter: after.mean,
    standardDeviationBefore: before.deviation,
    standardDeviationAfter: after.deviation,
    relativeChange: relate(before.mean, after.mean),
  };
}

/** With the population's deviations, as Otava has it. 1 of two values, NaN where all are equal. */
function testMeans(before: Segment, after: Segment): number {
  const freedom = before.count + after.count - 2;
  if (freedom === 0) return 1;
  const squares = (before.count - 1) * before.deviation ** 2 + (after.count - 1) * after.deviation ** 2;
  const error = Math.sqrt((squares / freedom) * (1 / before.count + 1 / after.count));
  const t = (before.mean - after.mean) / error;
  return Number.isNaN(t) ? t : studentTTwoSided(t, freedom);
}

function relate(from: number, to: number): number {
  return from === 0 ? 0 : to / from - 1;
}

function describe(values: Float64Array, start: number, end: number): Segment {
  const count = end - start;
  const mean = pairwiseSum(values, start, end) / count;
  const squares = values.slice(start, end).map((value) => (value - mean) ** 2);
  return { count, mean, deviation: Math.sqrt(pairwiseSum(squares, 0, count) / count) };
}
