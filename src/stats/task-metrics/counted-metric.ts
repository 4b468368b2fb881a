/** A metric of samples of which each may count several times, as it does in a resample. */
export interface CountedMetric {
  /** Steps of arithmetic that one measurement takes. */
  readonly cost: number;
  /** NaN where it is not defined, as is a curve without samples of both kinds. */
  measure(counts: ArrayLike<number>): number;
}

/** The sum of numerators over the sum of denominators. */
export function countRatio(numerators: Float64Array, denominators: Float64Array): CountedMetric {
  return {
    cost: numerators.length,
    measure: (counts) => {
      let [above, below] = [0, 0];
      for (let sample = 0; sample < numerators.length; sample++) {
        above += counts[sample]! * numerators[sample]!;
        below += counts[sample]! * denominators[sample]!;
      }
      return above / below;
    },
  };
}
