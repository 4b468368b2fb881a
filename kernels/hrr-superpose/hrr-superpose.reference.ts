import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

export type HrrSuperposeSize = "groups" | "vectors" | "dimension";

/** y[groups × d]: the sum of each group's vectors, of length 1 unless it is zero, in f64. Elements of one group in a row cost one pass. */
export function hrrSuperposeReference(
  arrays: KernelArrays,
  { groups, vectors, dimension }: KernelShape<HrrSuperposeSize>,
): KernelReference {
  const { x } = arrays as { x: Float32Array };

  function superpose(group: number): Float64Array<ArrayBuffer> {
    const sum = new Float64Array(dimension);
    for (let vector = group * vectors; vector < (group + 1) * vectors; vector++) {
      for (let i = 0; i < dimension; i++) sum[i]! += x[vector * dimension + i]!;
    }
    const norm = Math.sqrt(sum.reduce((total, value) => total + value * value, 0));
    return norm === 0 ? sum : sum.map((value) => value / norm);
  }

  let current = { group: -1, sum: new Float64Array() };
  return {
    output: "y",
    length: groups * dimension,
    elementFlops: (vectors + 3) * dimension,
    element(index) {
      const group = Math.floor(index / dimension);
      if (group !== current.group) current = { group, sum: superpose(group) };
      return current.sum[index % dimension]!;
    },
  };
}
