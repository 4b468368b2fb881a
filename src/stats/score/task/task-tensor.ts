/** A metric of samples that may count several times each, as in a resample. */
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

/** Numbers row by row; the first dimension counts samples. */
export interface TaskTensor {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** Numbers of one sample. */
export function widthOf({ shape }: TaskTensor): number {
  return shape.slice(1).reduce((product, size) => product * size, 1);
}

/** The numbers of one sample; what has one row only has it for every sample. */
export function rowOf(tensor: TaskTensor, sample: number): Float32Array {
  const width = widthOf(tensor);
  const from = tensor.shape[0] === 1 ? 0 : sample * width;
  return tensor.values.subarray(from, from + width);
}

/** The place of the largest number, the first of equal ones. */
export function indexOfLargest(values: ArrayLike<number>): number {
  let best = 0;
  for (let index = 1; index < values.length; index++) if (values[index]! > values[best]!) best = index;
  return best;
}
