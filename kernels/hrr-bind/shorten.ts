/**
 * How many times shorter than the others the shortest of `count` random sums of `dimension` values is, about. Of one
 * value only the sign is left; there generators keep sums away from zero, where rounding would decide on it.
 */
export function shorten(count: number, dimension: number): number {
  return dimension === 1 ? 1 : count ** (1 / dimension);
}
