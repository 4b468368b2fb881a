import type { KernelArrays, KernelReference, KernelShape } from "../../kernels/kernel-spec.ts";
import { inputsOf, type KernelAtShape, specOf } from "../kernel-at-shape.ts";

/** One agent kernel at one shape; so many runs are a batch, whose last outputs are read back. */
export interface AgentCase extends KernelAtShape {
  readonly runs: number;
}

/** A kernel's work on typed arrays: takes room for its outputs once; a call fills them, in the references' order. */
export type HostWork = (inputs: KernelArrays, shape: KernelShape) => () => readonly ArrayLike<number>[];

/** The right answer, one reference for each output. */
export function referencesOf(input: AgentCase): KernelReference[] {
  const reference = specOf(input).reference(inputsOf(input), input.shape);
  return [reference, ...(reference.others ?? [])];
}

/** All outputs as one; their integers are small enough for f32. */
export function joinOutputs(outputs: readonly ArrayLike<number>[]): Float32Array<ArrayBuffer> {
  const joined = new Float32Array(outputs.reduce((total, { length }) => total + length, 0));
  let offset = 0;
  for (const output of outputs) {
    joined.set(output, offset);
    offset += output.length;
  }
  return joined;
}
