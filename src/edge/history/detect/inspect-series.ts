import type { NoiseReply } from "../../../protocol/history/detection.ts";
import type { SeriesKey } from "../../../protocol/history/series.ts";
import type { ThresholdInput, ThresholdTrial } from "../../../protocol/history/threshold.ts";
import { findSpikes } from "../../../stats/change/find-spikes.ts";
import { noisePointOf, runsNeeded, seriesNoise, smallestDetectable } from "../../../stats/change/noise.ts";
import { NOISE_FLOOR } from "../../../stats/compare/threshold.ts";
import { toInstant } from "../../clock.ts";
import type { StoredPoint } from "../../store/history/point-store.ts";
import { judgePoints } from "./find-breaches.ts";
import { defaultStatistic, resolutionOf, statisticOf } from "./shift.ts";

/** Points judged by a rule, and the alerts that it would have raised. */
export function tryThreshold(
  points: readonly StoredPoint[],
  rule: ThresholdInput,
  direction: "lower" | "higher",
): Omit<ThresholdTrial, "truncated"> {
  const values = points.map((point) => statisticOf(point, rule.statistic));
  const noiseFloor = Math.max(rule.noiseFloor, resolutionOf(points, rule.statistic));
  const { judgements, episodes } = judgePoints(values, rule, { direction, noiseFloor });
  const at = (index: number) => toInstant(points[index]?.atMs ?? 0);
  return {
    points: judgements.map(({ verdict, baseline, lowerLimit, upperLimit }, index) => {
      const { runId = null, revision = null } = points[index] ?? {};
      const value = values[index] ?? Number.NaN;
      return { at: at(index), value, verdict, baseline, lowerLimit, upperLimit, runId, revision };
    }),
    alerts: episodes.map(({ direction: side, start, returned }) => ({
      direction: side,
      at: at(start),
      returnedAt: returned === null ? null : at(returned),
    })),
  };
}

/** A spike is so many times as high as the finest step of a statistic, at least. */
const SPIKE_STEPS = 3;

/** Points that stand out alone. */
export function listSpikes(
  points: readonly StoredPoint[],
  series: Pick<SeriesKey, "unit">,
): { at: string; value: number; runId: string | null }[] {
  const statistic = defaultStatistic(series);
  const values = points.map((point) => statisticOf(point, statistic));
  // Noise that is finer than the statistic can show is not seen: nothing within a few steps of it is a spike.
  const noiseFloor = Math.max(NOISE_FLOOR, SPIKE_STEPS * resolutionOf(points, statistic));
  return findSpikes(values, { noiseFloor }).flatMap((index) => {
    const point = points[index];
    return point === undefined
      ? []
      : [{ at: toInstant(point.atMs), value: values[index] ?? Number.NaN, runId: point.runId }];
  });
}

/** The noise of a series, and the changes that so many runs a side can show through it. */
export function describeNoise(
  stored: readonly StoredPoint[],
  { runs, change }: { readonly runs: number; readonly change?: number | undefined },
): NoiseReply {
  const { runs: points, withinRun, betweenRun } = seriesNoise(stored.map(noisePointOf));
  const known = betweenRun === null ? null : smallestDetectable({ betweenRun, runs });
  const needed = betweenRun === null || change === undefined ? null : runsNeeded({ betweenRun, change });
  const reason =
    betweenRun === null
      ? `${points} points are too few to tell runs apart from noise: 8 are needed`
      : change !== undefined && needed === null
        ? "the change is below the noise floor of 1 %, or needs more than a million runs a side"
        : withinRun === null
          ? "too few runs hold more than one value to tell the noise within"
          : null;
  return { points, withinRun, betweenRun, runs, smallestDetectable: known, runsNeeded: needed, reason };
}
