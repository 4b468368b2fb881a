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
