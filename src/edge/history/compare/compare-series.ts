import type { ComparedPair, ComparedSide, CompareQuery, Statistic } from "../../../protocol/history/comparison.ts";
import { keyOf } from "../../../protocol/history/series.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { compareFew } from "../../../stats/compare/compare-few.ts";
import { compareSamples } from "../../../stats/compare/compare-samples.ts";
import { adjustPValues, effectSize, mannWhitney } from "../../../stats/compare/mann-whitney.ts";
import { FEWEST_VALUES } from "../../../stats/compare/summarise-comparison.ts";
import {
  closeAggregate,
  mergeInto,
  openAggregate,
  type OpenAggregate,
  openQuantiles,
  summarise,
} from "../../../stats/distribution/distribution.ts";
import { medianInterval } from "../../../stats/distribution/intervals.ts";
import { toInstant } from "../../clock.ts";
import type { StoredSeries } from "../../store/history/series-store.ts";
import type { Observed } from "./observe-series.ts";

/**
 * Withdraws verdicts that may be chance among so many pairs. Samples within runs are a family of their own: their tiny
 * p-values say nothing of the noise between runs, and must not lower the adjusted ones of runs.
 */
export function adjustVerdicts(pairs: readonly Omit<ComparedPair, "adjustedP">[], confidence: number): ComparedPair[] {
  const adjusted = new Map<Omit<ComparedPair, "adjustedP">, number>();
  for (const within of [true, false]) {
    const family = pairs.filter(({ observation, p }) => p !== null && (observation === "samples") === within);
    const ps = adjustPValues(family.map(({ p }) => p ?? 1));
    for (const [index, pair] of family.entries()) adjusted.set(pair, ps[index] ?? 1);
  }
  return pairs.map((pair) => {
    const adjustedP = adjusted.get(pair) ?? null;
    const claims = pair.verdict === "better" || pair.verdict === "worse";
    if (!claims || adjustedP === null || adjustedP < 1 - confidence) return { ...pair, adjustedP };
    const found = Number(adjustedP.toPrecision(2));
    const warning = `By itself this would be ${pair.verdict}; among ${pairs.length} pairs it may be chance (adjusted p = ${found}).`;
    return { ...pair, adjustedP, verdict: "unclear", warnings: [...pair.warnings, warning] };
  });
}

/** A series with one side's data of it. */
export interface Measured {
  readonly series: StoredSeries;
  readonly observed: Observed;
}

type Asked = Pick<CompareQuery, "statistic" | "minimumEffect" | "confidence">;
type Found = Omit<ComparedPair, "key" | "a" | "b" | "adjustedP"> & {
  readonly values: readonly [number, number];
  readonly intervals: readonly [ComparedSide["interval"], ComparedSide["interval"]];
};

/**
 * Compares one pair. Runs are independent observations, samples within a run are not. So runs are compared where both
 * sides have 5, one side's runs predict where only it has 5, and samples are the last resort.
 */
export function compareSeries(a: Measured, b: Measured, asked: Asked): Omit<ComparedPair, "adjustedP"> {
  const [few, many] = [a, b].map(({ observed }) => observed.runs.length).toSorted((one, other) => one - other);
  const compare = many! < FEWEST_VALUES || few === 0 ? compareWithin : few! < FEWEST_VALUES ? predictFew : compareRuns;
  const { values, intervals, ...found } = compare(a, b, asked);
  const { fingerprint: _fingerprint, software: _software, label: _label, ...key } = keyOf(b.series);
  return {
    key,
    a: describeSide(a, values[0], intervals[0]),
    b: describeSide(b, values[1], intervals[1]),
    ...found,
  };
}

function compareRuns(a: Measured, b: Measured, asked: Asked): Found {
  const [ofA, ofB] = [statisticsOf(a, asked.statistic), statisticsOf(b, asked.statistic)];
  const compared = compareSamples(ofA, ofB, { ...asked, direction: b.series.direction });
  return {
    observation: "runs",
    ...fromSamples(compared),
    intervals: [medianInterval(summarise(ofA)), medianInterval(summarise(ofB))],
    warnings: [],
  };
}

const ONE_RUN = "One run may be a spike, which the history cannot distinguish from a change: measure again.";

function predictFew(a: Measured, b: Measured, asked: Asked): Found {
  const [ofA, ofB] = [statisticsOf(a, asked.statistic), statisticsOf(b, asked.statistic)];
  const { meanA, meanB, ...judged } = compareFew(ofA, ofB, { ...asked, direction: b.series.direction });
  const { delta, word } = effectSize(mannWhitney(ofA, ofB).u, ofA.length, ofB.length);
  const claims = judged.verdict === "better" || judged.verdict === "worse";
  return {
    observation: "prediction",
    ...judged,
    test: "student-t",
    delta,
    effect: word,
    values: [meanA, meanB],
    intervals: [null, null],
    warnings: claims && Math.min(ofA.length, ofB.length) === 1 ? [ONE_RUN] : [],
  };
}

const WITHIN =
  "Fewer than 5 runs on both sides: these are samples within runs, which say nothing about the noise between runs.";

function compareWithin(a: Measured, b: Measured, asked: Asked): Found {
  const [wholeA, wholeB] = [wholeOf(a.observed), wholeOf(b.observed)];
  if (asked.statistic !== "p50") return describeWhole(wholeA, wholeB, asked.statistic);
  const compared = compareSamples(samplesOf(wholeA), samplesOf(wholeB), { ...asked, direction: b.series.direction });
  return {
    observation: "samples",
    ...fromSamples(compared),
    intervals: [medianInterval(closeAggregate(wholeA)), medianInterval(closeAggregate(wholeB))],
    warnings: [WITHIN],
  };
}

/**
 * Statistics other than the median are reported without a verdict: samples of one run cannot show how far its tail
 * varies.
 */
function describeWhole(a: OpenAggregate, b: OpenAggregate, statistic: Statistic): Found {
  const [ofA, ofB] = [statisticOf(a, statistic), statisticOf(b, statistic)];
  return {
    observation: "samples",
    ratio: ofA > 0 && ofB > 0 ? { value: ofB / ofA, interval: null } : null,
    difference: { value: ofB - ofA, interval: null },
    predicted: null,
    test: null,
    p: null,
    delta: null,
    effect: null,
    verdict: "unclear",
    summary: `Too few runs to judge ${statistic}: one side takes 5.`,
    values: [ofA, ofB],
    intervals: [null, null],
    warnings: [WITHIN],
  };
}

function fromSamples({
  ratio,
  difference,
  p,
  delta,
  word,
  verdict,
  summary,
  medianA,
  medianB,
}: ReturnType<typeof compareSamples>) {
  return {
    ratio,
    difference,
    predicted: null,
    test: "mann-whitney" as const,
    p,
    delta,
    effect: word,
    verdict,
    summary,
    values: [medianA, medianB] as const,
  };
}

function statisticsOf({ observed }: Measured, statistic: Statistic): number[] {
  return observed.runs.map(({ aggregate }) => statisticOf(aggregate, statistic));
}

const QUANTILES = { p50: 0.5, p95: 0.95, p99: 0.99 } as const;

function statisticOf(aggregate: OpenAggregate, statistic: Statistic): number {
  if (statistic === "mean") return aggregate.sum / aggregate.count;
  return openQuantiles(aggregate, [QUANTILES[statistic]])[0] ?? Number.NaN;
}

/** All samples of a side. */
function wholeOf({ runs, merged }: Observed): OpenAggregate {
  if (merged !== null) return merged.aggregate;
  const whole = openAggregate();
  for (const { aggregate } of runs) mergeInto(whole, aggregate, aggregate.sketch);
  return whole;
}

/** The samples of a sketch, with exact extremes; evenly spaced ranks where there are many. */
function samplesOf(aggregate: OpenAggregate): number[] {
  const size = Math.min(aggregate.count, LIMITS.comparedSamples);
  const ranks = Array.from({ length: size }, (_, rank) => (rank + 0.5) / size);
  const samples = openQuantiles(aggregate, ranks);
  samples[size - 1] = aggregate.max;
  samples[0] = aggregate.min;
  return samples;
}

function describeSide({ series, observed }: Measured, value: number, interval: ComparedSide["interval"]): ComparedSide {
  const whole = wholeOf(observed);
  const times = observed.runs.map(({ atMs }) => atMs);
  return {
    seriesId: series.id,
    label: series.label,
    fingerprintId: series.fingerprintId,
    runs: observed.runs.length,
    samples: whole.count,
    value,
    interval,
    min: whole.min,
    max: whole.max,
    from: toInstant(observed.merged?.fromMs ?? Math.min(...times)),
    to: toInstant(observed.merged?.toMs ?? Math.max(...times)),
    latestRunId: observed.runs[0]?.runId ?? null,
    latestRevision: observed.runs[0]?.revision ?? null,
    truncated: observed.truncated,
  };
}

/**
 * Assigns runs that both sides hold to the side with fewer runs, or to B, so that the latest run is compared with
 * earlier ones and never with itself. A side left without runs is empty. Live requests are known only by their sum, so
 * overlapping spans leave A empty.
 */
export function shareRuns(a: Observed, b: Observed): [a: Observed, b: Observed] {
  if (a.merged !== null && b.merged !== null) {
    const overlap = a.merged.fromMs < b.merged.toMs && b.merged.fromMs < a.merged.toMs;
    return [overlap ? { ...a, merged: null } : a, b];
  }
  const giver = a.runs.length >= b.runs.length ? a : b;
  const keeper = giver === a ? b : a;
  const kept = new Set(keeper.runs.map(({ runId }) => runId));
  const rest = { ...giver, runs: giver.runs.filter(({ runId }) => !kept.has(runId)) };
  return giver === a ? [rest, b] : [a, rest];
}
