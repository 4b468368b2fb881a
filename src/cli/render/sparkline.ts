import type { Distribution } from "../../protocol/wire/distribution.ts";
import { bucketValue, decodeSketch } from "../../stats/distribution/sketch.ts";
import { formatValue } from "./format-values.ts";

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

/** Columns of the shape: enough to see a tail or two humps. */
const BINS = 16;

/** Percentiles of a distribution, and its shape from the least value to the largest. */
export function distributionLine(distribution: Distribution, unit: string): string {
  const { p50, p95, p99, count } = distribution;
  const shape = shapeOf(distribution);
  const figures = `p50 ${formatValue(p50)}  p95 ${formatValue(p95)}  p99 ${formatValue(p99)} ${unit}  n ${formatValue(count)}`;
  return shape === null ? figures : `${figures}  ${shape}`;
}

/** `1.2 ▂█▃▁ 9.1`; the root of counts, so that a thin tail is seen. Null where all values are about the same. */
function shapeOf({ sketch, min, max }: Distribution): string | null {
  const { positive } = decodeSketch(sketch);
  if (!(min > 0) || max / min < 1.02) return null;
  const counts = Array.from({ length: BINS }, () => 0);
  for (const [index, count] of positive) {
    const place = (BINS * Math.log(bucketValue(index) / min)) / Math.log(max / min);
    counts[Math.min(BINS - 1, Math.max(0, Math.floor(place)))]! += count;
  }
  return `${formatValue(min)} ${sparkline([0, ...counts.map(Math.sqrt)]).slice(1)} ${formatValue(max)}`;
}
