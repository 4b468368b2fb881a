import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** Values above this are kept. */
export const FILTER_THRESHOLD = 0.25;
/** Values that are kept are multiplied by this. */
export const FILTER_SCALE = 3;

/** kept: scale · x for every x above the threshold, in order, then zeros; count: how many there are. */
export function transformFilterReference(inputs: KernelArrays, { n }: KernelShape<"n">): KernelReference {
  const { values } = inputs as { values: Float32Array };
  let found: { kept: Float32Array; count: number } | null = null;

  function filter() {
    const kept = new Float32Array(n);
    let count = 0;
    for (let i = 0; i < n; i++) {
      if (values[i]! > FILTER_THRESHOLD) kept[count++] = FILTER_SCALE * values[i]!;
    }
    return { kept, count };
  }

  const result = () => (found ??= filter());
  const count = { output: "count", length: 1, elementFlops: n, element: () => result().count };
  return { output: "kept", length: n, elementFlops: 2, element: (index) => result().kept[index]!, others: [count] };
}
