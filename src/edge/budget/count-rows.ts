import type { TensorSpec } from "../../protocol/model.ts";
import type { TensorHeader } from "../../protocol/tensor.ts";

/** Items that a request brings for the batch dimension: the first of an input, where the model leaves it free; else 1. */
export function countRows(specs: readonly TensorSpec[], tensors: readonly TensorHeader[]): number {
  const batched = specs.find(({ shape }) => shape[0] === -1);
  return tensors.find(({ name }) => name === batched?.name)?.shape[0] ?? 1;
}
