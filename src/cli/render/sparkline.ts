const LEVELS = "▁▂▃▄▅▆▇█";

/** Values as heights from the least to the largest; null is a gap. All alike stand in the middle. */
export function sparkline(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  const low = known.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = known.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const levelOf = (value: number) =>
    high > low ? Math.round(((value - low) / (high - low)) * (LEVELS.length - 1)) : LEVELS.length >> 1;
  return values.map((value) => (value === null ? " " : LEVELS[levelOf(value)])).join("");
}

/** As many values as fit, each the mean of its share of them. */
export function thinOut(values: readonly number[], count: number): number[] {
  if (values.length <= count) return [...values];
  return Array.from({ length: count }, (_, index) => {
    const share = values.slice(
      Math.floor((index * values.length) / count),
      Math.floor(((index + 1) * values.length) / count),
    );
    return share.reduce((sum, value) => sum + value, 0) / share.length;
  });
}
