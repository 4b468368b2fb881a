import type { PlacedModel } from "../../protocol/link.ts";
import { createSeededInputs } from "../../protocol/seeded-inputs.ts";
import type { Tensor } from "../../protocol/tensor.ts";

const COMPARED_INPUTS = 64;

/** The inputs by which variants are compared, each of one row. */
export function createComparedInputs({ inputs }: Pick<PlacedModel, "inputs">): Tensor[][] {
  return Array.from({ length: COMPARED_INPUTS }, (_, index) => createSeededInputs(inputs, index + 1));
}
