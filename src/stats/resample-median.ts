/**
 * A median of `sorted.length` draws with replacement from rising values, without making the draws. A draw is
 * the value at ⌊n·U⌋ of a uniform U, so the median's place follows from that of the uniforms: the middle one of
 * 2k − 1 is Beta(k, k) (David and Nagaraja, Order Statistics, 2003, §2.1), drawn as ½ + T/(2√(2k + T²)) by
 * Student's T of 2k degrees of freedom (Devroye, Non-Uniform Random Variate Generation, 1986, ch. IX), T by
 * Bailey's polar method (Mathematics of Computation, 1994). Of 2k uniforms the last one lies on one side of
 * that middle, and the nearest of the then k on this side is the other of the two in the middle.
 */
export function resampleMedian(sorted: ArrayLike<number>, draw: () => number): number {
  const n = sorted.length;
  const k = Math.ceil(n / 2);
  const middle = drawBeta(k, draw);
  const at = (place: number) => sorted[Math.min(n - 1, Math.floor(place * n))] ?? Number.NaN;
  if (n % 2 === 1) return at(middle);
  const nearest = draw() ** (1 / k);
  const other = draw() < middle ? middle * nearest : 1 - (1 - middle) * nearest;
  return (at(middle) + at(other)) / 2;
}

/** Beta(k, k). */
function drawBeta(k: number, draw: () => number): number {
  for (;;) {
    const u = 2 * draw() - 1;
    const v = 2 * draw() - 1;
    const w = u * u + v * v;
    if (w > 1 || w === 0) continue;
    // T²/2k, hence T/√(2k + T²) = ±√(that/(1 + that)).
    const square = (u * u * (w ** (-1 / k) - 1)) / w;
    return 0.5 + (Math.sign(u) / 2) * Math.sqrt(square / (1 + square));
  }
}
