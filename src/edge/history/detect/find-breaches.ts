import type { Threshold, ThresholdInput } from "../../../protocol/history/threshold.ts";
import { judgeThreshold, type ThresholdJudgement } from "../../../stats/compare/threshold.ts";
import { median } from "../../../stats/distribution/summary.ts";
import { toInstant } from "../../clock.ts";
import type { Shift } from "../../store/history/detection-store.ts";
import type { StoredPoint } from "../../store/history/point-store.ts";
import { placeOf, previousOf } from "./find-shifts.ts";
import type { SeriesPoints } from "./read-series-points.ts";
import { resolutionOf, statisticOf } from "./shift.ts";

/** Points in a row within the limits after which the series is back to normal. */
export const RETURN_POINTS = 3;

/** A time during which points were beyond a limit. */
interface Episode {
  readonly direction: "regression" | "improvement";
  /** The first point beyond the limit. */
  readonly start: number;
  /** The first point after the episode; null while it lasts. */
  readonly end: number | null;
  /** The point at which it was within the limits again; null where it became the new normal, or lasts. */
  readonly returned: number | null;
  /** Points in between that were beyond the limit. */
  readonly beyond: readonly number[];
  /** Judgement of the first point. */
  readonly judgement: ThresholdJudgement;
}

export interface Judged {
  /** One for each point. */
  readonly judgements: readonly ThresholdJudgement[];
  readonly episodes: readonly Episode[];
}

type Rule = Pick<
  ThresholdInput,
  "test" | "lower" | "upper" | "windowPoints" | "minSample" | "minimumEffect" | "consecutive"
>;

/** An episode, or a candidate, with its values. */
interface OpenEpisode extends Episode {
  end: number | null;
  returned: number | null;
  readonly beyond: number[];
  readonly held: number[];
  /** Points in a row that were within the limits. */
  within: number;
}

/**
 * Judges each value by the values before it. Values beyond a limit are not history while they are, or may be, part of
 * an episode: a new level becomes normal only once it fills the window. `noiseFloor` is the rule's own, or the
 * resolution of the values if that is larger.
 */
export function judgePoints(
  values: readonly number[],
  rule: Rule,
  options: { readonly direction: "lower" | "higher"; readonly noiseFloor: number },
): Judged {
  const judgements: ThresholdJudgement[] = [];
  const episodes: Episode[] = [];
  const history: number[] = [];
  let open: OpenEpisode | null = null;
  for (const [index, value] of values.entries()) {
    const judgement = soften(judgeThreshold(rule, history.slice(-rule.windowPoints), value, options), value, rule);
    judgements.push(judgement);
    const side = sideOf(judgement);
    if (open !== null && open.beyond.length < rule.consecutive && side !== open.direction) {
      history.push(...open.held);
      open = null;
    }
    if (open === null && side === null) {
      history.push(value);
      continue;
    }
    open ??= startAt(index, side ?? "regression", judgement);
    open.held.push(value);
    if (side === null) open.within++;
    else {
      open.within = 0;
      open.beyond.push(index);
      if (open.beyond.length === rule.consecutive) episodes.push(open);
    }
    if (open.within === RETURN_POINTS || open.held.length >= rule.windowPoints) {
      open.end = index + 1;
      if (open.within === RETURN_POINTS) open.returned = index;
      history.push(...open.held);
      open = null;
    }
  }
  return { judgements, episodes };
}

function startAt(start: number, direction: Episode["direction"], judgement: ThresholdJudgement): OpenEpisode {
  return { direction, start, end: null, returned: null, judgement, beyond: [], held: [], within: 0 };
}

function sideOf({ verdict }: ThresholdJudgement): Episode["direction"] | null {
  return verdict === "regression" || verdict === "improvement" ? verdict : null;
}

/** A change below the minimum effect gets no verdict. */
function soften(
  judgement: ThresholdJudgement,
  value: number,
  { minimumEffect }: Pick<Rule, "minimumEffect">,
): ThresholdJudgement {
  const { baseline } = judgement;
  if (sideOf(judgement) === null || baseline === null) return judgement;
  if (Math.abs(value - baseline) >= minimumEffect * Math.abs(baseline)) return judgement;
  return { ...judgement, verdict: "pass" };
}

/**
 * The first point from `start` on that completes `RETURN_POINTS` in a row within the limits; null where there is none.
 */
export function findReturn(
  values: readonly number[],
  start: number,
  { lowerLimit, upperLimit }: Pick<ThresholdJudgement, "lowerLimit" | "upperLimit">,
): number | null {
  let within = 0;
  for (let index = start; index < values.length; index++) {
    const value = values[index] ?? Number.NaN;
    within = value >= (lowerLimit ?? -Infinity) && value <= (upperLimit ?? Infinity) ? within + 1 : 0;
    if (within === RETURN_POINTS) return index;
  }
  return null;
}

/**
 * Breaches of a rule in a series: one shift for each episode, however long it lasts. In a cut series, points whose full
 * history was not read are not judged.
 */
export function findBreaches(
  { points, truncated }: SeriesPoints,
  rule: Threshold,
  direction: "lower" | "higher",
): Shift[] {
  const values = points.map((point) => statisticOf(point, rule.statistic));
  const noiseFloor = Math.max(rule.noiseFloor, resolutionOf(points, rule.statistic));
  const { episodes } = judgePoints(values, rule, { direction, noiseFloor });
  return episodes
    .filter(({ start }) => !truncated || start >= rule.windowPoints)
    .map((episode) => toShift(points, values, episode, rule, noiseFloor));
}

function toShift(
  points: readonly StoredPoint[],
  values: readonly number[],
  { direction, start, end, beyond, judgement }: Episode,
  rule: Threshold,
  noiseFloor: number,
): Shift {
  const { baseline, lowerLimit, upperLimit, noiseFloorUsed } = judgement;
  const history = values.slice(Math.max(0, start - rule.windowPoints), start);
  const to = median(beyond.map((index) => values[index] ?? Number.NaN));
  // A static rule has no baseline, and may be broken by the very first point.
  const from = baseline ?? (history.length > 0 ? median(history) : to);
  return {
    ...placeOf(points, start),
    kind: "threshold",
    thresholdId: rule.id,
    direction,
    evidence: {
      statistic: rule.statistic,
      from,
      to,
      relativeChange: from === 0 ? null : to / from - 1,
      interval: null,
      p: null,
      confidence: null,
      noiseFloor: noiseFloorUsed ? noiseFloor : null,
      pointsBefore: history.length,
      pointsAfter: (end ?? points.length) - start,
      completeAt: toInstant(points[start]?.atMs ?? 0),
      oldRange: null,
      ...previousOf(points, start),
      returnedAt: null,
      withdrawnAt: null,
      limits: { threshold: rule.name, test: rule.test, baseline, lowerLimit, upperLimit },
    },
  };
}
