import type { KernelArrays, KernelReference, KernelShape, KernelSpec } from "../kernels/kernel-spec.ts";
import { KERNELS } from "../kernels/registry.ts";

/** Work of a bench's case, the same for every contender. */
export interface KernelAtShape {
  readonly kernel: string;
  readonly shape: KernelShape;
}

export const SEED = 1;

export function specOf({ kernel }: KernelAtShape): KernelSpec {
  const spec = KERNELS.get(kernel);
  if (spec === undefined) throw new RangeError(`there is no kernel '${kernel}'`);
  return spec;
}

/** Inputs of every contender, dense and row-major, by the names of the kernel's bindings. */
export function inputsOf(input: KernelAtShape): KernelArrays {
  return specOf(input).generate(input.shape, SEED);
}

/** Correct answer, one reference for each output. */
export function referencesOf(input: KernelAtShape): KernelReference[] {
  const reference = specOf(input).reference(inputsOf(input), input.shape);
  return [reference, ...(reference.others ?? [])];
}
