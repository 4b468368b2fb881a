import type { ComparedPair, ComparisonReply } from "../../protocol/history/comparison.ts";

/** Name of a pair, as far as a message needs it. */
interface Named {
  readonly key: Pick<ComparedPair["key"], "subject" | "metric" | "configuration"> & { readonly clock?: string | null };
  readonly b?: Pick<ComparedPair["b"], "label" | "fingerprintId" | "seriesId">;
}

/** Names for a table: subject, metric and configuration; where that is not enough, label, device, clock and id too. */
export function namePairs(pairs: readonly Named[]): string[] {
  const further: ((pair: Named) => string | null | undefined)[] = [
    ({ b }) => b?.label,
    ({ b }) => b?.fingerprintId,
    ({ key }) => key.clock,
    ({ b }) => b?.seriesId,
  ];
  let names = pairs.map(({ key }) => {
    const configuration = Object.entries(key.configuration).map(([name, value]) => `${name}=${value}`);
    return [key.subject, key.metric, ...configuration].join(" ");
  });
  for (const tell of further) {
    const counts = Map.groupBy(names, (name) => name);
    names = names.map((name, index) => {
      const more = tell(pairs[index]!);
      return (counts.get(name)?.length ?? 0) > 1 && more ? `${name} ${more}` : name;
    });
  }
  return names;
}

/** `unclear`: a regression beyond the limit can neither be shown nor excluded. */
export type Outcome = "regression" | "unclear" | "insufficient" | "passed";

/** Verdict on one series of the candidate. */
export interface Judgement {
  readonly name: string;
  readonly subject: string;
  readonly outcome: Outcome;
  /** B's change as a share of A, above 0 where B is larger; null where A is 0 or was not measured. */
  readonly change: number | null;
  readonly reason: string;
  /** Null where the baseline has no partner. */
  readonly pair: ComparedPair | null;
}

export interface Gate {
  /** Share of the baseline by which a candidate may be worse. */
  readonly maxRegression: number;
  /** Whether a lack of evidence fails. */
  readonly requireEvidence: boolean;
  /** Whether only too few runs count as a lack of evidence, and an unclear comparison passes. */
  readonly allowUnclear: boolean;
}

/**
 * Judges a comparison by a gate. A regression is what is certainly worse and, as measured, by more than may be.
 * Samples within runs prove nothing, however far apart they are: they are insufficient.
 */
export function judgePairs(comparison: ComparisonReply, gate: Gate): Judgement[] {
  const names = namePairs(comparison.pairs);
  const judged = comparison.pairs.map((pair, index): Judgement => {
    const change = relativeChange(pair);
    const [outcome, reason] = judgePair(pair, change, gate.maxRegression);
    return { name: names[index] ?? "", subject: pair.key.subject, outcome, change, reason, pair };
  });
  // Series without runs are not the candidate's: it measured others.
  const alone = comparison.unpaired.filter(({ side, reason }) => side === "b" && reason !== "no-runs");
  const unjudged = alone.map(({ key, reason }): Judgement => {
    const why =
      reason === "same-runs"
        ? "the baseline holds the same runs and no others"
        : "the baseline has no such series, or no runs of it";
    const [name = ""] = namePairs([{ key }]);
    return { name, subject: key.subject, outcome: "insufficient", change: null, reason: why, pair: null };
  });
  const order: Outcome[] = ["regression", "unclear", "insufficient", "passed"];
  return [...judged, ...unjudged].toSorted((one, other) => order.indexOf(one.outcome) - order.indexOf(other.outcome));
}

function judgePair(pair: ComparedPair, change: number | null, maxRegression: number): [Outcome, string] {
  const limit = `${Number((100 * maxRegression).toPrecision(4))} %`;
  if (pair.observation === "samples") return ["insufficient", "fewer than 5 runs on both sides"];
  const worse = change === null ? Number.POSITIVE_INFINITY : worseBy(pair, change);
  if (pair.verdict === "worse" && worse > maxRegression)
    return ["regression", [`worse by more than ${limit}`, ...pair.warnings].join("; ")];
  if (pair.verdict === "worse") return ["passed", `worse, within the ${limit} that may be`];
  if (pair.verdict !== "unclear") return ["passed", pair.verdict];
  const most = worstEnd(pair);
  if (most !== null && most <= maxRegression) return ["passed", `worse by more than ${limit} is excluded`];
  return ["unclear", pair.warnings.at(-1) ?? `worse by more than ${limit} can neither be shown nor excluded`];
}

function relativeChange({ a, difference }: ComparedPair): number | null {
  return a.value === 0 ? (difference.value === 0 ? 0 : null) : difference.value / Math.abs(a.value);
}

function worseBy({ key }: ComparedPair, change: number): number {
  return key.direction === "lower" ? change : -change;
}

/** Largest possible loss of B, as a share of A. */
function worstEnd(pair: ComparedPair): number | null {
  const interval = pair.ratio?.interval;
  if (interval === null || interval === undefined) return null;
  const ends = [interval.low, interval.high].map((ratio) => worseBy(pair, Math.sign(pair.a.value) * (ratio - 1)));
  return Math.max(...ends);
}

/** Exit code of a check: 0 pass, 1 a regression, 2 nothing to judge, 3 a lack of evidence that was asked for. */
export function exitCodeOf(judgements: readonly Judgement[], gate: Gate): 0 | 1 | 2 | 3 {
  const has = (outcome: Outcome) => judgements.some((each) => each.outcome === outcome);
  if (judgements.length === 0) return 2;
  if (has("regression")) return 1;
  const lacks = has("insufficient") || (has("unclear") && !gate.allowUnclear);
  return gate.requireEvidence && lacks ? 3 : 0;
}

/** Result of a check, in one line. */
export function headlineOf(judgements: readonly Judgement[], gate: Gate): string {
  const count = (outcome: Outcome) => judgements.filter((each) => each.outcome === outcome).length;
  const limit = `${Number((100 * gate.maxRegression).toPrecision(4))} %`;
  if (judgements.length === 0) return "Nothing was judged: the candidate has no measurements";
  const regressions = count("regression");
  const parts = [
    regressions === 0
      ? `No regression beyond ${limit}`
      : `${regressions} ${regressions === 1 ? "regression" : "regressions"} beyond ${limit}`,
    `${judgements.length} series: ${count("passed")} passed`,
    ...(count("unclear") > 0 ? [`${count("unclear")} unclear`] : []),
    ...(count("insufficient") > 0 ? [`${count("insufficient")} NOT JUDGED for want of history`] : []),
  ];
  return parts.join(", ");
}
