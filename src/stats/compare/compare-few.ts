import { judgeChange } from "./compare-samples.ts";
import type { CompareOptions, Comparison } from "./compare-samples.ts";
import { mean } from "../distribution/summary.ts";
import { studentTQuantile, studentTTwoSided } from "../distribution/student-t.ts";
import type { Estimate } from "./summarise-comparison.ts";
import { NOISE_FLOOR } from "./threshold.ts";

export interface FewComparison {
  readonly meanA: number;
  readonly meanB: number;
  /** Mean of B ÷ mean of A; null where they are not both above zero. */
  readonly ratio: Estimate | null;
  /** Mean of B − mean of A, in the unit of the values. */
  readonly difference: Estimate;
  /** Predicted range of the few values' mean, if they are like the others. */
  readonly predicted: { readonly low: number; readonly high: number };
  /** Two-sided p-value of Student's t. */
  readonly p: number;
  readonly verdict: Comparison["verdict"];
  /** The verdict and what it rests on, in one English sentence. */
  readonly summary: string;
}

/**
 * Compares few values of one side with the history that the other side is: the mean of the m few should lie within
 * mean ± t·s·√(1/n + 1/m) of the n others, s by n − 1, t of Student's distribution by n − 1 degrees of freedom
 * (the prediction interval of Hahn and Meeker, Statistical Intervals, 1991, §4.7; of one value it is the threshold
 * `t-test`). As there, however quiet the history was, the interval reaches the noise floor of 1 % at least.
 * The interval of the change has the same reach: it takes the few to vary as the others do. Throws a
 * RangeError where no side has two values, one has none, or a value is not finite.
 */
export function compareFew(a: readonly number[], b: readonly number[], options: CompareOptions): FewComparison {
  const { direction, minimumEffect = 0.01, confidence = 0.95 } = options;
  const [many, few] = a.length >= b.length ? [a, b] : [b, a];
  if (many.length < 2 || few.length === 0) throw new RangeError("a history takes two values, and one to compare");
  const [meanA, meanB] = [mean(a), mean(b)];
  const meanOfMany = mean(many);
  if (!Number.isFinite(meanA + meanB)) throw new RangeError("a comparison takes finite values");
  const freedom = many.length - 1;
  const deviation = Math.sqrt(many.reduce((sum, value) => sum + (value - meanOfMany) ** 2, 0) / freedom);
  const scale = deviation * Math.sqrt(1 / many.length + 1 / few.length);
  const reach = Math.max(scale * studentTQuantile((1 + confidence) / 2, freedom), NOISE_FLOOR * Math.abs(meanOfMany));
  const difference = around(meanB - meanA, reach);
  const p = difference.value === 0 ? 1 : studentTTwoSided(difference.value / scale, freedom);
  const ratio = meanA > 0 && meanB > 0 ? around(meanB / meanA, reach / meanA) : null;
  const change = ratio === null ? difference : around(ratio.value - 1, reach / meanA);
  const smallest = ratio === null ? minimumEffect * Math.max(Math.abs(meanA), Math.abs(meanB)) : minimumEffect;
  const certain = p < 1 - confidence && Math.abs(difference.value) > reach;
  const verdict = judgeChange(change, { smallest, certain, direction });
  const predicted = { low: meanOfMany - reach, high: meanOfMany + reach };
  const summary = describe({ a, b, change: change.value, relative: ratio !== null, certain, verdict, p, confidence });
  return { meanA, meanB, ratio, difference, predicted, p, verdict, summary };
}

function around(value: number, reach: number) {
  return { value, interval: { low: value - reach, high: value + reach } };
}

interface Findings {
  readonly a: readonly number[];
  readonly b: readonly number[];
  readonly change: number;
  readonly relative: boolean;
  readonly certain: boolean;
  readonly verdict: Comparison["verdict"];
  readonly p: number;
  readonly confidence: number;
}

function describe({ a, b, change, relative, certain, verdict, p, confidence }: Findings): string {
  const size = relative ? `${round(100 * Math.abs(change), 3)} %` : round(Math.abs(change), 3);
  const moved =
    change === 0 ? "B's mean equals A's" : `B's mean is ${size} ${change < 0 ? "lower" : "higher"} than A's`;
  const [many, few, name] = a.length >= b.length ? [a, b, "A"] : [b, a, "B"];
  const place = certain ? "outside of" : "within";
  const chance = p < 0.0001 ? "p < 0.0001" : `p = ${round(p, 2)}`;
  const values = few.length === 1 ? "one more value" : `${few.length} more`;
  const judged = { better: ", which is better", worse: ", which is worse", same: ", which is the same", unclear: "" };
  return `${moved}${judged[verdict]}: ${place} what ${name}'s ${many.length} values let expect of ${values} in ${round(100 * confidence, 4)} % of cases (${chance} by Student's t).`;
}

function round(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}
