import { normalQuantile } from "./normal.ts";

/** From here on the series of Stirling's formula below is exact to a double. */
const LOG_GAMMA_SERIES_FROM = 16;

/**
 * The regularised incomplete beta function I_x(a, b) for x in [0, 1] and a, b > 0, to about 1e-12 of itself for
 * arguments up to some millions (DLMF 8.17).
 */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (!(x >= 0 && x <= 1)) throw new RangeError(`the incomplete beta function is of 0 to 1, not of ${x}`);
  if (x === 0 || x === 1) return x;
  const y = 1 - x;
  const n = a + b;
  // xᵃ·yᵇ ÷ B(a, b) by Stirling's formula, whose large parts are taken together before they can cancel
  // (C. Loader, "Fast and accurate computation of binomial probabilities", 2000).
  const error = stirlingError(n) - stirlingError(a) - stirlingError(b);
  const front =
    Math.sqrt((a * b) / (2 * Math.PI * n)) * Math.exp(a * Math.log((x * n) / a) + b * Math.log((y * n) / b) + error);
  return betaOfFront(front, x, y, a, b);
}

/**
 * The same, given xᵃ·yᵇ ÷ B(a, b) and y = 1 − x in better precision: by the continued fraction on the side where it
 * converges fast, of the complement on the other.
 */
function betaOfFront(front: number, x: number, y: number, a: number, b: number): number {
  if (x < (a + 1) / (a + b + 2)) return (front / a) * betaFraction(x, a, b);
  return 1 - (front / b) * betaFraction(y, b, a);
}

/**
 * Difference between ln Γ(a) and Stirling's formula (a − 1/2)·ln a − a + ln √2π; small `a` from larger ones.
 * Source: DLMF 5.11.1.
 */
function stirlingError(a: number): number {
  let shifted = a;
  let sum = 0;
  for (; shifted < LOG_GAMMA_SERIES_FROM; shifted++) sum += (shifted + 0.5) * Math.log1p(1 / shifted) - 1;
  const square = 1 / (shifted * shifted);
  const series = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)));
  return sum + series / shifted;
}

/**
 * The continued fraction of the incomplete beta function (DLMF 8.17.22), from the front by the method of Lentz
 * as Thompson and Barnett changed it (Journal of Computational Physics, 1986).
 */
function betaFraction(x: number, a: number, b: number): number {
  let d = 1 / (1 - ((a + b) * x) / (a + 1));
  let c = 1;
  let fraction = d;
  for (let m = 1; m < 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return fraction;
}

/** The share of Student's t distribution of ν > 0 degrees of freedom that lies below `t`. */
export function studentTCdf(t: number, degreesOfFreedom: number): number {
  const tail = studentTTwoSided(t, degreesOfFreedom) / 2;
  return t > 0 ? 1 - tail : tail;
}

/**
 * The chance that |T| of ν > 0 degrees of freedom is `|t|` or more: the regularised incomplete beta function
 * I(ν/(ν + t²); ν/2, 1/2) (Abramowitz and Stegun, Handbook of Mathematical Functions, 1964, 26.7.1), to about
 * 1e-12 of itself.
 */
export function studentTTwoSided(t: number, degreesOfFreedom: number): number {
  if (t === 0) return 1;
  if (Math.abs(t) === Number.POSITIVE_INFINITY) return 0;
  const a = degreesOfFreedom / 2;
  const odds = (t * t) / degreesOfFreedom;
  const x = 1 / (1 + odds);
  const y = odds / (1 + odds);
  // xᵃ·√y ÷ B(a, 1/2), where Γ(1/2) = √π; by the logarithm of x, whose distance from 1 may be tiny.
  const front = (Math.exp(-a * Math.log1p(odds)) * Math.sqrt(y) * gammaRatioOfHalf(a)) / Math.sqrt(Math.PI);
  return betaOfFront(front, x, y, a, 0.5);
}

/**
 * Quantile p of (0, 1) of Student's t distribution with ν > 0 degrees of freedom. Newton's method on the logarithms of
 * the tail and of t: that curve falls and is concave, so every start converges, and the normal quantile is a near one.
 * Throws a RangeError for p outside of (0, 1).
 */
export function studentTQuantile(p: number, degreesOfFreedom: number): number {
  if (!(p > 0 && p < 1)) throw new RangeError(`a quantile is asked for between 0 and 1, not at ${p}`);
  const tail = Math.min(p, 1 - p);
  if (tail === 0.5) return 0;
  let t = -normalQuantile(tail);
  for (let step = 0; step < 100; step++) {
    const found = studentTTwoSided(t, degreesOfFreedom) / 2;
    const shift = (Math.log(found / tail) * found) / (t * density(t, degreesOfFreedom));
    t *= Math.exp(shift);
    if (Math.abs(shift) < 1e-14) break;
  }
  return p < 0.5 ? -t : t;
}

function density(t: number, degreesOfFreedom: number): number {
  const power = Math.exp((-(degreesOfFreedom + 1) / 2) * Math.log1p((t * t) / degreesOfFreedom));
  return (power * gammaRatioOfHalf(degreesOfFreedom / 2)) / Math.sqrt(Math.PI * degreesOfFreedom);
}

/** From here on four terms of the series below are exact to a double. */
const GAMMA_RATIO_SERIES_FROM = 40;

/**
 * Γ(a + 1/2) ÷ Γ(a): the asymptotic series of the ratio of two gamma functions (Tricomi and Erdélyi, Pacific
 * Journal of Mathematics, 1951), in powers of a − 1/4, where the odd ones vanish; for small `a` from a larger
 * one by Γ(a + 1) = a·Γ(a).
 */
function gammaRatioOfHalf(a: number): number {
  let shifted = a;
  let product = 1;
  for (; shifted < GAMMA_RATIO_SERIES_FROM; shifted++) product *= shifted / (shifted + 0.5);
  const w = shifted - 0.25;
  const square = 1 / (w * w);
  const series = 1 + square * (1 / 64 + square * (-19 / 8_192 + (square * 631) / 524_288));
  return product * Math.sqrt(w) * series;
}
