import type { Distribution } from "../../protocol/distribution.ts";
import { bucketValue, decodeSketch } from "../../stats/sketch.ts";
import { formatValue } from "./format-values.ts";
import { sparkline } from "./sparkline.ts";

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
