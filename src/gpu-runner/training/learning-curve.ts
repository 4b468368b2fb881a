import type { CurvePoint } from "../../protocol/training.ts";

/**
 * The curve with one more generation, and `most` points at most: of a longer training the last of every 2, 4, 8, …
 * generations stand, with the latest judgement among them.
 */
export function addToCurve(curve: readonly CurvePoint[], point: CurvePoint, most: number): CurvePoint[] {
  const stride = strideOf(point.generation, most);
  const all = [...curve, point];
  const bucketOf = ({ generation }: CurvePoint) => Math.floor((generation - 1) / stride);
  return all.flatMap((candidate, index) => {
    const next = all[index + 1];
    if (next !== undefined && bucketOf(next) === bucketOf(candidate)) return [];
    if (candidate.fresh !== null) return [candidate];
    const judged = all.slice(0, index).findLast(({ fresh }) => fresh !== null);
    const isOwn = judged !== undefined && bucketOf(judged) === bucketOf(candidate);
    if (!isOwn) return [candidate];
    const { fresh, freshInterval } = judged;
    return [{ ...candidate, fresh, ...(freshInterval && { freshInterval }) }];
  });
}

/** Generations of one point. */
function strideOf(generations: number, most: number): number {
  let stride = 1;
  while (Math.ceil(generations / stride) > most) stride *= 2;
  return stride;
}
