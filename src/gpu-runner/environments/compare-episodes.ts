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
/** Least share of episodes that are the same one by one; on SwiftShader and an H100 all were. */
const LEAST_SAME = 0.97;
/** The same of chaotic motion, by environment. SwiftShader left 1, 0, and 0.45 of both ball games. */
const LEAST_SAME_CHAOTIC: Readonly<Record<string, number>> = {
  acrobot: 0.85,
  cheetah: 0,
  "sinuca-physical": 0.25,
  "sinuca-viva": 0.25,
};

/**
 * Compares the same episodes as played by two programs, such as a GPU's and the f64 reference's. Returns the share that
 * is the same: of equal length, and of equal return but for rounding.
 * Fails with `backend-failed` where that share is too small for this environment, or where the mean returns, or the mean
 * lengths, differ by more than four standard errors.
 */
export function compareEpisodes(
  environment: string,
  found: Episodes,
  expected: Episodes,
): { sameEpisodes: number; meanReturn: number } {
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
  const count = expected.lengths.length;
  const same = Array.from(expected.returns).filter((value, index) => {
    const isClose = Math.abs(found.returns[index]! - value) <= ROUNDING * Math.max(1, Math.abs(value));
    return isClose && found.lengths[index] === expected.lengths[index];
  }).length;
  const least = LEAST_SAME_CHAOTIC[environment] ?? LEAST_SAME;
  if (same < least * count) {
    const detail = `${same} of ${count} episodes of ${environment} are the same, and at least ${Math.ceil(least * count)} have to be.`;
    throw new ProblemError("backend-failed", detail);
  }
  return { sameEpisodes: same / count, meanReturn: mean(found.returns) };
}
