import type { Threshold } from "../protocol/history/threshold.ts";
import { formatNumber, formatShare } from "./numbers.ts";

type Test = Threshold["test"];

/** Each test as it is offered, and the measure of its limits. */
export const TESTS: Record<Test, { readonly words: string; readonly measure: string }> = {
  static: { words: "fixed limits", measure: "in the unit of the series" },
  percentage: { words: "share of the mean", measure: "a share, such as 0.1 for 10 %" },
  "z-score": { words: "normal distribution (z-score)", measure: "a probability, such as 0.977" },
  "t-test": { words: "Student's t, for few points", measure: "a probability, such as 0.977" },
  "log-normal": { words: "log-normal distribution", measure: "a probability, such as 0.977" },
  iqr: { words: "interquartile range", measure: "a multiple, such as 3" },
  "delta-iqr": { words: "interquartile range of changes", measure: "a multiple, such as 3" },
};

/** A rule in one sentence or two. */
export function explainThreshold(threshold: Threshold): string {
  const { test, statistic, lower, upper, windowPoints, minSample, minimumEffect, consecutive } = threshold;
  const sides = [
    upper === undefined ? null : `above ${describeLimit(test, upper, "above")}`,
    lower === undefined ? null : `below ${describeLimit(test, lower, "below")}`,
  ].filter((side) => side !== null);
  const points = consecutive === 1 ? "a point" : `${consecutive} points in a row`;
  const judged =
    test === "static"
      ? ""
      : ` The last ${windowPoints} points count; with fewer than ${minSample} there is no verdict.`;
  const effect = minimumEffect === 0 ? "" : ` What moved by less than ${formatShare(minimumEffect)} never counts.`;
  return `Alerts when the ${statistic} of ${points} is ${sides.join(" or ")}.${judged}${effect}`;
}

function describeLimit(test: Test, limit: number, side: "above" | "below"): string {
  const sign = side === "above" ? "+" : "−";
  switch (test) {
    case "static":
      return formatNumber(limit);
    case "percentage":
      return `the mean ${sign} ${formatShare(limit)}`;
    case "z-score":
    case "t-test":
    case "log-normal":
      return `what ${describeProbability(limit)} of a ${DISTRIBUTIONS[test]} distribution around the points before ${side === "above" ? "stay under" : "stay over"}`;
    case "iqr":
      return `the median ${sign} ${formatNumber(limit)} interquartile ranges`;
    case "delta-iqr":
      return `the median ${sign} ${formatNumber(limit)} interquartile ranges of the changes from point to point`;
  }
}

const DISTRIBUTIONS = { "z-score": "normal", "t-test": "Student's t", "log-normal": "log-normal" } as const;

function describeProbability(probability: number): string {
  return `${Number((100 * probability).toPrecision(6))} %`;
}

/** Selection of the series that a rule judges. */
export function describeSelector(selector: Threshold["selector"]): string {
  const { configuration = {}, ...dimensions } = selector;
  const named = Object.entries({ ...dimensions, ...configuration }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${Array.isArray(value) ? value.join(", ") : String(value)}`],
  );
  return named.join("; ") || "every series";
}
