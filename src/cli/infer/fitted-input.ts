import type { JsonTensor } from "../../protocol/tensor.ts";

/** A file as an input of a model, and what was done to it. */
export interface FittedInput {
  readonly tensor: JsonTensor;
  readonly note: string;
}
