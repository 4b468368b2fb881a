/**
 * Best split of `values[start, end)`: `index` is the first value of the right part, `divergence` the statistic there.
 */
export interface Split {
  readonly index: number;
  readonly divergence: number;
}

/** A window's values, and for each the sum of its distances to those before it. */
export interface Distances {
  readonly values: Float64Array;
  readonly toEarlier: Float64Array;
}

/** Sums each value's distances to the earlier ones, once for a window. O(n²) time, O(n) memory. */
export function measureDistances(values: Float64Array): Distances {
  const toEarlier = values.map((value, at) => sumDistances(values, value, at));
  return { values, toEarlier };
}

/**
 * The split of `[start, end)`, two values or more, that maximises the E-divisive statistic with α = 1 over all τ and κ
 * (Matteson and James, JASA 109, 2014, equations 5 to 8): with m values before τ and n from τ to κ
 *
 *   Q(τ, κ) = 2/(m+n)·Σ|x−y| − 2n/((m+n)(m−1))·Σ|x−x′| − 2m/((m+n)(n−1))·Σ|y−y′|,
 *
 * pairs once each, x before τ and y from τ on. Ties go to the earliest τ. Columns of equal κ follow each other, so that
 * running sums serve: O(n²) time, O(n) memory. Sums are taken in the order of Apache Otava's, whose answers the last
 * bit may decide.
 */
export function findBestSplit({ values, toEarlier }: Distances, start: number, end: number): Split {
  const length = end - start;
  const x = values.subarray(start, end);
  const within = sumWithinLeft(values, toEarlier, start, end);
  /** By value: sum of distances to the later values, up to the current κ. */
  const toLater = new Float64Array(length);
  /** By τ: sum of distances within the right part. */
  const withinRight = new Float64Array(length + 1);
  let best: Split = { index: start + 1, divergence: Number.NEGATIVE_INFINITY };
  for (let kappa = 2; kappa <= length; kappa++) {
    const last = x[kappa - 1]!;
    for (let t = 0; t < kappa - 1; t++) toLater[t]! += Math.abs(x[t]! - last);
    withinRight[kappa - 1] = 0;
    for (let t = kappa - 2; t > 0; t--) withinRight[t] = withinRight[t + 1]! + toLater[t]!;
    let fromLeft = 0;
    for (let tau = 1; tau < kappa; tau++) {
      fromLeft += toLater[tau - 1]!;
      const left = within[tau - 1]!;
      const between = (2 / kappa) * (fromLeft - left);
      const leftPart = tau > 1 ? ((2 * (kappa - tau)) / (kappa * (tau - 1))) * left : 0;
      const rightPart = kappa - tau > 1 ? ((2 * tau) / (kappa * (kappa - tau - 1))) * withinRight[tau]! : 0;
      const divergence = between - leftPart - rightPart;
      const index = start + tau;
      if (divergence > best.divergence || (divergence === best.divergence && index < best.index))
        best = { index, divergence };
    }
  }
  return best;
}

/** By length minus one: sum of distances within the first values of `[start, end)`. */
function sumWithinLeft(values: Float64Array, toEarlier: Float64Array, start: number, end: number): Float64Array {
  const within = new Float64Array(end - start);
  for (let at = 1; at < end - start; at++) {
    const value = values[start + at]!;
    within[at] = within[at - 1]! + (toEarlier[start + at]! - sumDistances(values, value, start));
  }
  return within;
}

/** Distances of a value to the first `count` ones. */
function sumDistances(values: Float64Array, value: number, count: number): number {
  let sum = 0;
  for (let at = 0; at < count; at++) sum += Math.abs(values[at]! - value);
  return sum;
}

/** Blocks this long are summed by lanes; longer ones are halved. */
const BLOCK = 128;
const LANES = 8;

/**
 * The sum of `values[start, end)` in the order in which NumPy adds a contiguous array: halves until 128 are left,
 * eight running sums in each. Its rounding error grows with log n (Higham, "The accuracy of floating point
 * summation", SIAM J. Sci. Comput. 14, 1993); to the last bit NumPy's, so that decisions on a knife's edge fall alike.
 */
export function pairwiseSum(values: ArrayLike<number>, start: number, end: number): number {
  const length = end - start;
  if (length > BLOCK) {
    const half = Math.floor(length / 2);
    const middle = start + half - (half % LANES);
    return pairwiseSum(values, start, middle) + pairwiseSum(values, middle, end);
  }
  let sum = 0;
  let next = start;
  if (length >= LANES) {
    const lanes = Array.from({ length: LANES }, (_, lane) => values[start + lane]!);
    for (next += LANES; next + LANES <= end; next += LANES) {
      for (let lane = 0; lane < LANES; lane++) lanes[lane]! += values[next + lane]!;
    }
    const [a, b, c, d, e, f, g, h] = lanes as [number, number, number, number, number, number, number, number];
    sum = a + b + (c + d) + (e + f + (g + h));
  }
  for (; next < end; next++) sum += values[next]!;
  return sum;
}
