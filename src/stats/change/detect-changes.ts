import { findChangePoints } from "./change-points.ts";
import { confirmBoundaries, type Demands, meets } from "./confirm-boundaries.ts";
import { findSpikes, MINIMUM_SEGMENT, neighbourNoise } from "./find-spikes.ts";
import { joinDrifts, type Transition } from "./join-drifts.ts";
import { studentTQuantile } from "../distribution/student-t.ts";
import { NOISE_FLOOR } from "../compare/threshold.ts";

export interface ChangeSettings {
  /** The better direction. */
  readonly direction: "lower" | "higher";
  /** Fewest consecutive points that make a level, default 4; fewer are spikes. */
  readonly minimumSegment?: number | undefined;
  /** Smallest change as a share of the level before; default: the noise floor. */
  readonly minimumEffect?: number | undefined;
  /** Largest p-value of a change; default 10⁻⁶. */
  readonly maxP?: number | undefined;
  /** Window in which candidates are sought, in points; default 50. */
  readonly windowPoints?: number | undefined;
}

export interface DetectedChange {
  /** First point of the new regime; the begin of a drift. */
  readonly index: number;
  /** First point at the full new level: `index` itself for a step. */
  readonly completeIndex: number;
  readonly kind: "step" | "drift";
  readonly verdict: "regression" | "improvement";
  /** The levels before and after, in the series' unit: of a step means without the highest and the lowest tenth. */
  readonly from: number;
  readonly to: number;
  /** Share of the level before; null where that is zero. */
  readonly relativeChange: number | null;
  /** 95 % of the same, the level before taken as known. */
  readonly interval: { readonly low: number; readonly high: number } | null;
  readonly p: number;
  /** 1 − p. */
  readonly confidence: number;
  /** Number of points from `index` on that sufficed to separate the levels. */
  readonly detectedAfter: number;
}

/** Chosen on training seeds; see docs/methodology.md. */
const MAX_P = 1e-6;
const WINDOW_POINTS = 50;
/** Limit for candidates by Otava's test; their confirmation is stricter. */
const CANDIDATE_P = 0.01;
/** No segment is taken to scatter less than this share of the noise between neighbours. */
const LEAST_NOISE = 0.7;

/**
 * The lasting changes of a series of finite numbers, oldest first. Spikes are left out; of Otava's change points of the
 * rest those stay that `confirmBoundaries` confirms; and steps in one direction that a slope explains better are one
 * drift. Throws a RangeError where a value is not finite.
 */
export function detectChanges(values: ArrayLike<number>, settings: ChangeSettings): readonly DetectedChange[] {
  const { minimumSegment = MINIMUM_SEGMENT, minimumEffect = NOISE_FLOOR, maxP = MAX_P } = settings;
  const spikes = new Set(findSpikes(values, { minimumSegment }));
  const places = Array.from({ length: values.length }, (_, at) => at).filter((at) => !spikes.has(at));
  const series = Float64Array.from(places, (at) => values[at]!);
  const demands = { minimumSegment, minimumEffect, maxP, leastDeviation: LEAST_NOISE * neighbourNoise(series) };
  const { windowPoints = WINDOW_POINTS } = settings;
  const candidates = findChangePoints(series, { windowPoints, maxP: CANDIDATE_P }).map(({ index }) => index);
  const boundaries = confirmBoundaries(series, candidates, demands);
  return joinDrifts(series, boundaries, 2 * minimumSegment).map((transition) => ({
    ...describe(transition, settings.direction),
    index: places[transition.index]!,
    completeIndex: places[transition.completeIndex] ?? values.length - 1,
    detectedAfter: countUntilTold(series, transition, demands),
  }));
}

function describe({ kind, from, to, standardError, degreesOfFreedom, p }: Transition, direction: "lower" | "higher") {
  const share = (difference: number) => difference / Math.abs(from);
  const reach = studentTQuantile(0.975, degreesOfFreedom) * standardError;
  return {
    kind,
    verdict: to > from === (direction === "higher") ? "improvement" : "regression",
    from,
    to,
    relativeChange: from === 0 ? null : share(to - from),
    interval: from === 0 ? null : { low: share(to - from - reach), high: share(to - from + reach) },
    p,
    confidence: 1 - p,
  } as const;
}

/** The fewest points of the new regime that meet the demands; all that there are where a drift never does by itself. */
function countUntilTold(series: Float64Array, { start, index, end }: Transition, demands: Demands): number {
  for (let count = demands.minimumSegment; count < end - index; count++) {
    if (meets(series, { start, index, end: index + count }, demands)) return count;
  }
  return end - index;
}
