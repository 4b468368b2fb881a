import { normalTail } from "../distribution/normal.ts";

/**
 * The p-values of a family of tests, adjusted so that calling all those at or below a level keeps the expected
 * share of false ones among them at that level: pᵢ·m/rank, made to rise with the rank (Benjamini and Hochberg,
 * Journal of the Royal Statistical Society B, 1995; it holds for independent tests and for those that depend
 * positively on one another). In the order given; never above 1. Throws a RangeError for what is no
 * probability.
 */
export function adjustPValues(ps: readonly number[]): number[] {
  if (!ps.every((p) => p >= 0 && p <= 1)) throw new RangeError("p-values lie between 0 and 1");
  const falling = ps.map((p, index) => ({ p, index })).toSorted((a, b) => b.p - a.p);
  const adjusted = ps.map(() => 1);
  let least = 1;
  for (const [place, { p, index }] of falling.entries()) {
    least = Math.min(least, p * (ps.length / (ps.length - place)));
    adjusted[index] = least;
  }
  return adjusted;
}

export interface EffectSize {
  /** Cliff's δ in [−1, 1]: the chance that a value of B is above one of A, less the chance that it is below. */
  readonly delta: number;
  /** Vargha and Delaney's A = (δ + 1)/2: the chance that B is above A, ties by half. */
  readonly probabilityAbove: number;
  readonly word: "negligible" | "small" | "medium" | "large";
}

/**
 * Effect size of two samples, from Mann and Whitney's U of A.
 * Sources: Cliff, Psychological Bulletin, 1993; Vargha and Delaney, Journal of Educational and Behavioral Statistics,
 * 2000. Words: Romano, Kromrey, Coraggio and Skowronek, Florida Association of Institutional Research, 2006.
 */
export function effectSize(u: number, countA: number, countB: number): EffectSize {
  const delta = 1 - (2 * u) / (countA * countB);
  return { delta, probabilityAbove: (delta + 1) / 2, word: wordOf(Math.abs(delta)) };
}

function wordOf(size: number): EffectSize["word"] {
  if (size < 0.147) return "negligible";
  if (size < 0.33) return "small";
  return size < 0.474 ? "medium" : "large";
}

export interface MannWhitney {
  /** Pairs in which the value of `a` is the greater, plus half of the ties. */
  readonly u: number;
  /** Two-sided. */
  readonly p: number;
  readonly method: "exact" | "normal";
}

/** Largest size of the smaller sample for the exact distribution; beyond, the normal one is close enough. */
const MOST_EXACT = 8;

/**
 * Tests whether values of `a` tend to lie above or below those of `b`. Exact where no two values are equal and one
 * sample has 8 at most, else by the normal distribution with corrections for ties and continuity, as SciPy's
 * `mannwhitneyu` chooses. Throws a RangeError on an empty list and on values that are not finite.
 * Source: Mann and Whitney, Annals of Mathematical Statistics, 1947.
 */
export function mannWhitney(a: ArrayLike<number>, b: ArrayLike<number>): MannWhitney {
  const [m, n] = [a.length, b.length];
  if (m === 0 || n === 0) throw new RangeError("a comparison takes two samples");
  const [sortedA, sortedB] = [Float64Array.from(a).toSorted(), Float64Array.from(b).toSorted()];
  // NaN is sorted behind all.
  const ends = [sortedA[0], sortedA.at(-1), sortedB[0], sortedB.at(-1)];
  if (!ends.every(Number.isFinite)) throw new RangeError("a comparison takes finite values");
  const { u, tied } = countPairs(sortedA, sortedB);
  const lesser = Math.min(u, m * n - u);
  if (tied === 0 && Math.min(m, n) <= MOST_EXACT) {
    return { u, p: Math.min(1, 2 * exactTail(lesser, m, n)), method: "exact" };
  }
  const total = m + n;
  const variance = ((m * n) / 12) * (total + 1 - tied / (total * (total - 1)));
  if (variance <= 0) return { u, p: 1, method: "normal" };
  const z = ((m * n) / 2 - lesser - 0.5) / Math.sqrt(variance);
  return { u, p: z <= 0 ? 1 : Math.min(1, 2 * normalTail(z)), method: "normal" };
}

/** U of two rising samples, and Σ(t³ − t) over the groups of t equal values. */
function countPairs(a: Float64Array, b: Float64Array): { u: number; tied: number } {
  let [u, tied, i, j] = [0, 0, 0, 0];
  while (i < a.length || j < b.length) {
    const value = Math.min(a[i] ?? Number.POSITIVE_INFINITY, b[j] ?? Number.POSITIVE_INFINITY);
    const [fromA, fromB] = [i, j];
    while (i < a.length && a[i] === value) i++;
    while (j < b.length && b[j] === value) j++;
    const [equalA, equalB] = [i - fromA, j - fromB];
    u += equalA * (fromB + equalB / 2);
    tied += (equalA + equalB) ** 3 - (equalA + equalB);
  }
  return { u, tied };
}

/**
 * The chance that U is at most `u`: how many of the C(m + n, m) orders have each U is the Gaussian binomial
 * coefficient Π (1 − qⁿ⁺ⁱ)/(1 − qⁱ), i = 1 … min(m, n), multiplied out as far as qᵘ.
 */
function exactTail(u: number, m: number, n: number): number {
  const [few, many] = [Math.min(m, n), Math.max(m, n)];
  const orders = new Float64Array(u + 1);
  orders[0] = 1;
  let all = 1;
  for (let i = 1; i <= few; i++) {
    for (let power = u; power >= many + i; power--) orders[power]! -= orders[power - many - i]!;
    for (let power = i; power <= u; power++) orders[power]! += orders[power - i]!;
    all *= (many + i) / i;
  }
  return orders.reduce((sum, count) => sum + count, 0) / all;
}
