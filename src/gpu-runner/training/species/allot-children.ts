/**
 * Children of each species, `total` in all, by its shared fitness: the sum of f/|species| over its members (Stanley and
 * Miikkulainen 2002, section 3.3). Where fitness is below 0 it counts from the lowest; NaN, of who failed, counts as
 * the lowest. What is left by rounding goes to the largest remainders, the first of equals.
 */
export function allotChildren(
  species: readonly { readonly members: readonly number[] }[],
  fitness: Float64Array,
  total: number,
): number[] {
  const lowest = Math.min(0, ...fitness.filter(Number.isFinite));
  const shares = species.map(({ members }) => {
    const sum = members.reduce(
      (all, member) => all + (Number.isFinite(fitness[member]) ? fitness[member]! - lowest : 0),
      0,
    );
    return sum / members.length;
  });
  const whole = shares.reduce((sum, share) => sum + share, 0);
  const exact = shares.map((share) => (whole > 0 ? (total * share) / whole : total / shares.length));
  const counts = exact.map(Math.floor);
  const left = total - counts.reduce((sum, count) => sum + count, 0);
  const byRemainder = exact
    .keys()
    .toArray()
    .toSorted((a, b) => exact[b]! - counts[b]! - (exact[a]! - counts[a]!));
  for (const index of byRemainder.slice(0, left)) counts[index]!++;
  return counts;
}
