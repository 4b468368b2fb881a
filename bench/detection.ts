import { cpus } from "node:os";
import { findChangePoints } from "../src/stats/change/change-points.ts";
import { detectChanges } from "../src/stats/change/detect-changes.ts";
import type { Bench } from "./benches.ts";
import { DETECTION_CASES } from "./detection/detection-cases.ts";
import { type GeneratedSeries, generateSeries } from "./detection/generate-series.ts";
import { type Answers, installOtava, playOtava } from "./detection/otava.ts";
import { bencherTTest, githubActionBenchmark, playRule } from "./detection/point-alerts.ts";
import { addScores, type Report, type Score, scoreAlarms } from "./detection/score-alarms.ts";
import { type Contender, createScoreRows } from "./detection/score-rows.ts";
import { createRow } from "./row.ts";

const SERIES_A_ROUND = 2;
/** Our defaults were chosen on seeds below it. */
const FIRST_JUDGED_SEED = 1_000_000;
const SEEDS_A_CASE = 1_000;

/** Ours and three peers on series with known changes, which they see grow point by point. */
export const benchDetection: Bench = async function* benchDetection({ bench, rounds, say }) {
  const context = { bench, rounds, device: cpus()[0]?.model.trim() ?? "unknown", software: false };
  const missing = await installOtava(say).then(() => null, describeReason);
  const byGroup = new Map<string, (readonly Contender[])[]>();
  const same: boolean[] = [];
  for (const [at, { name, group, recipe }] of DETECTION_CASES.entries()) {
    say(`${bench} ${name}`);
    const series = Array.from({ length: rounds * SERIES_A_ROUND }, (_, index) =>
      generateSeries(recipe, FIRST_JUDGED_SEED + at * SEEDS_A_CASE + index),
    );
    const otava = missing ?? (await playOtava(series.map(({ values }) => values)).catch(describeReason));
    if (!("reason" in otava)) same.push(...series.flatMap(({ values }, index) => areSame(values, otava[index] ?? [])));
    const contenders = playAll(series, otava);
    yield* createScoreRows({ ...context, case: name }, contenders);
    if (group !== undefined) byGroup.set(group, [...(byGroup.get(group) ?? []), contenders]);
  }
  for (const [group, cases] of byGroup) yield* createScoreRows({ ...context, case: `all ${group}` }, pool(cases));
  if (same.length === 0) return;
  const share = same.filter(Boolean).length / same.length;
  yield createRow({ ...context, case: "all" }, ["same as otava", { unit: "share", better: "higher" }], [share], null);
};

function describeReason(error: unknown): { readonly reason: string } {
  return { reason: (error as Error).message };
}

/** Ours first. */
function playAll(
  series: readonly GeneratedSeries[],
  otava: readonly Answers[] | { readonly reason: string },
): readonly Contender[] {
  const ours = series.map(({ values }) =>
    grow(values).map((seen) => detectChanges(seen, { direction: "lower" }).map(({ index }) => index)),
  );
  const rules = Object.entries({ "bencher-ttest": bencherTTest, "github-action-benchmark": githubActionBenchmark });
  return [
    { name: "ours", ...scoreAnswers(series, ours) },
    ...rules.map(([name, rule]) => ({
      name,
      online: addScores(series.map((one) => scoreReports(one, playRule(rule, one.values)))),
      whole: null,
    })),
    { name: "otava", ...("reason" in otava ? otava : scoreAnswers(series, otava)) },
  ];
}

/** The series at each of its lengths from 2 on. */
function grow(values: Float64Array): readonly Float64Array[] {
  return Array.from({ length: values.length - 1 }, (_, at) => values.subarray(0, at + 2));
}

function scoreAnswers(series: readonly GeneratedSeries[], answers: readonly Answers[]) {
  const reports = answers.map((ofSeries) =>
    ofSeries.map((indices, at) => indices.map((index): Report => ({ index, seenPoints: at + 2 }))),
  );
  return {
    online: addScores(series.map((one, at) => scoreReports(one, (reports[at] ?? []).flat()))),
    whole: addScores(series.map((one, at) => scoreReports(one, reports[at]?.at(-1) ?? []))),
  };
}

function scoreReports({ values, changes }: GeneratedSeries, reports: readonly Report[]): Score {
  return scoreAlarms(reports, changes, values.length);
}

/** Whether our change points are the same, by length. */
function areSame(values: Float64Array, answers: Answers): readonly boolean[] {
  return grow(values).map((seen, at) => {
    const ours = findChangePoints(seen).map(({ index }) => index);
    return ours.join() === answers[at]?.join();
  });
}

/** The contenders of several cases, each with the scores of all. */
function pool(cases: readonly (readonly Contender[])[]): readonly Contender[] {
  return (cases[0] ?? []).map(({ name }, place): Contender => {
    const all = cases.map((contenders) => contenders[place]).filter((one) => one !== undefined);
    const without = all.find((one) => "reason" in one);
    if (without !== undefined) return without;
    const scored = all.flatMap((one) => ("reason" in one ? [] : [one]));
    const wholes = scored.flatMap(({ whole }) => whole ?? []);
    const online = addScores(scored.map((one) => one.online));
    return { name, online, whole: wholes.length === 0 ? null : addScores(wholes) };
  });
}
