/** From here on the series of Stirling's formula below is exact to a double. */
const SERIES_FROM = 16;

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
 * The same for those who know xᵃ·yᵇ ÷ B(a, b) and y = 1 − x better: by the continued fraction on the side where it
 * converges fast, of the complement on the other.
 */
export function betaOfFront(front: number, x: number, y: number, a: number, b: number): number {
  if (x < (a + 1) / (a + b + 2)) return (front / a) * betaFraction(x, a, b);
  return 1 - (front / b) * betaFraction(y, b, a);
}

/** What Stirling's formula (a − 1/2)·ln a − a + ln √2π lacks to ln Γ(a) (DLMF 5.11.1); small `a` from larger ones. */
function stirlingError(a: number): number {
  let shifted = a;
  let sum = 0;
  for (; shifted < SERIES_FROM; shifted++) sum += (shifted + 0.5) * Math.log1p(1 / shifted) - 1;
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
