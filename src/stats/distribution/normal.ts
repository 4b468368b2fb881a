const SPLIT = 0.425;

/** Polynomials of AS 241, lowest power first: numerator, denominator. */
const CENTRE = [
  [
    3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987, 67265.7709270087,
    33430.57558358813, 2509.0809287301227,
  ],
  [
    1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
    28729.085735721943, 5226.495278852546,
  ],
] as const;
const TAIL = [
  [
    1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
    0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
  ],
  [
    1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
    0.0005475938084995345, 1.0507500716444169e-9,
  ],
] as const;
const FAR_TAIL = [
  [
    6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124,
    0.0012426609473880784, 0.000027115555687434876, 2.0103343992922881e-7,
  ],
  [
    1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133, 0.000018463183175100548,
    1.421511758316446e-7, 2.0442631033899397e-15,
  ],
] as const;

/**
 * Quantile of the standard normal distribution for p in (0, 1), to about 1e-16.
 * Source: M. J. Wichura, AS 241, Applied Statistics 1988.
 */
export function normalQuantile(p: number): number {
  const offset = p - 0.5;
  if (Math.abs(offset) <= SPLIT) return offset * divide(CENTRE, SPLIT * SPLIT - offset * offset);
  const r = Math.sqrt(-Math.log(Math.min(p, 1 - p)));
  return Math.sign(offset) * (r <= 5 ? divide(TAIL, r - 1.6) : divide(FAR_TAIL, r - 5));
}

function divide([numerator, denominator]: typeof CENTRE | typeof TAIL | typeof FAR_TAIL, x: number): number {
  return evaluate(numerator, x) / evaluate(denominator, x);
}

function evaluate(coefficients: readonly number[], x: number): number {
  return coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
}

/** Beyond this deviate the continued fraction of the tail takes fewer terms than the series of the middle. */
const TAIL_FROM = 2.5;

/** The share of a standard normal distribution that lies below `z`, to about 1e-14 of itself in either tail. */
export function normalCdf(z: number): number {
  const tail = normalTail(Math.abs(z));
  return z > 0 ? 1 - tail : tail;
}

/**
 * The share above `z` ≥ 0: by the series φ(z)·(z + z³/3 + z⁵/(3·5) + …) of what lies between 0 and z, and
 * further out by the continued fraction φ(z)/(z + 1/(z + 2/(z + …))) (Abramowitz and Stegun, Handbook of
 * Mathematical Functions, 1964, 26.2.11 and 26.2.14).
 */
export function normalTail(z: number): number {
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  if (z > TAIL_FROM) {
    // 100 levels are enough at TAIL_FROM, and fewer would be further out.
    let fraction = z;
    for (let level = 100; level > 0; level--) fraction = z + level / fraction;
    return density / fraction;
  }
  let term = z;
  let sum = z;
  for (let odd = 3; term > sum * 1e-17; odd += 2) {
    term *= (z * z) / odd;
    sum += term;
  }
  return 0.5 - density * sum;
}
