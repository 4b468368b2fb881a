import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** Index of the largest of the values, the lowest one of equals, and that value. */
export function argmaxReference(inputs: KernelArrays, shape: KernelShape<"n">): KernelReference {
  const { values } = inputs as { values: Float32Array };

  function find(): number {
    let best = 0;
    for (let i = 1; i < shape.n; i++) {
      if (values[i]! > values[best]!) best = i;
    }
    return best;
  }

  const one = { length: 1, elementFlops: shape.n };
  return {
    ...one,
    output: "index",
    element: find,
    others: [{ ...one, output: "high", element: () => values[find()]! }],
  };
}
