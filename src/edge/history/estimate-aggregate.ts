import type { ReportedAggregate } from "../../protocol/report.ts";
import type { Aggregate } from "../../stats/distribution.ts";
import { addToSketch, createSketch, encodeSketch } from "../../stats/sketch.ts";

/**
 * The aggregate of values of which only some percentiles are known: the extremes count once, every other value as
 * the known percentile that is nearest to its rank. So the known ones come out again, and exact stays what was.
 * Where none is known, the mean stands for the median.
 */
export function estimateAggregate({ count, min, max, sum, percentiles = {} }: ReportedAggregate): Aggregate {
  const known = Object.entries(percentiles)
    .map(([name, value]) => ({ p: Number(name.slice(1)) / 100, value }))
    .toSorted((a, b) => a.p - b.p);
  const knots = known.length > 0 ? known : [{ p: 0.5, value: sum / count }];
  const sketch = createSketch();
  addToSketch(sketch, min);
  if (count > 1) addToSketch(sketch, max);
  let rank = 1;
  for (const [index, { p, value }] of knots.entries()) {
    const next = knots[index + 1];
    const end = next === undefined ? count - 1 : Math.min(count - 1, Math.floor((count * (p + next.p)) / 2));
    if (end > rank) addToSketch(sketch, Math.min(max, Math.max(min, value)), end - rank);
    rank = Math.max(rank, end);
  }
  return { count, min, max, sum, sketch: encodeSketch(sketch) };
}
