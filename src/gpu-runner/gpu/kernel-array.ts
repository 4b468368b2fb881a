import type { KernelArray } from "../../../kernels/kernel-spec.ts";

/** The array of each element type that a binding can have. */
export const KERNEL_ARRAYS = {
  float32: Float32Array,
  float16: Float16Array,
  int32: Int32Array,
  int8: Int8Array,
} as const;

/** An array of the same type, of zeros. */
export function createLike(values: KernelArray, length: number): KernelArray {
  return new (values.constructor as new (length: number) => KernelArray)(length);
}
