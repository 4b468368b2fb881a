import { ProblemError } from "../../protocol/wire/problem.ts";
import { mean } from "../../stats/distribution/summary.ts";

/** Sum of rewards and number of steps of each episode. */
export interface Episodes {
  readonly returns: ArrayLike<number>;
  readonly lengths: ArrayLike<number>;
}

/** Standard errors by which means may differ: episodes in f32 and f64 part where the motion is chaotic. */
const MOST_ERRORS = 4;
/** Difference that rounding to f32 leaves in sums, relative to their size. */
const ROUNDING = 1e-4;

/**
 * Compares the same episodes as played by two programs, such as a GPU's and the f64 reference's. They may differ one by
 * one, but not on average.
 * Fails with `backend-failed` where the mean returns, or the mean lengths, differ by more than four standard errors.
 */
export function compareEpisodes(found: Episodes, expected: Episodes): { sameLengths: number; meanReturn: number } {
  for (const name of ["lengths", "returns"] as const) {
    const values = Array.from(expected[name]);
    const gaps = values.map((value, index) => found[name][index]! - value);
    const gap = mean(gaps);
    const deviation = Math.sqrt(gaps.reduce((sum, each) => sum + (each - gap) ** 2, 0) / (gaps.length - 1));
    const size = values.reduce((sum, value) => sum + Math.abs(value), 0) / values.length;
    const allowed = (MOST_ERRORS * deviation) / Math.sqrt(gaps.length) + ROUNDING * Math.max(1, size);
    if (Math.abs(gap) <= allowed) continue;
    const detail = `The ${name} of ${gaps.length} episodes differ by ${gap} on average, and may by ${allowed}.`;
    throw new ProblemError("backend-failed", detail);
  }
  const same = Array.from(expected.lengths).filter((length, index) => length === found.lengths[index]).length;
  return { sameLengths: same / expected.lengths.length, meanReturn: mean(found.returns) };
}
