import type { KernelArray, KernelBinding, KernelShape, KernelSpec } from "../../../../kernels/kernel-spec.ts";
import { countElements, DTYPE_BYTES } from "../../../protocol/wire/tensor.ts";

/** Array type of each element type of a binding. */
export const KERNEL_ARRAYS = {
  float32: Float32Array,
  float16: Float16Array,
  int32: Int32Array,
  int8: Int8Array,
} as const;

/** Zero-filled array of the same type. */
export function createLike(values: KernelArray, length: number): KernelArray {
  return new (values.constructor as new (length: number) => KernelArray)(length);
}

/** Layout of a binding in its buffer: dense extents, and the larger ones on the device. */
export interface PaddedLayout {
  readonly extents: readonly number[];
  readonly padded: readonly number[];
  readonly sizeBytes: number;
}

/** Layout of a binding at a shape. */
export function layoutBinding(binding: KernelBinding, shape: KernelShape): PaddedLayout {
  const extents = binding.extents(shape);
  const padded = extents.map((extent, axis) => {
    const alignment = binding.alignment[axis] ?? 1;
    return Math.ceil(extent / alignment) * alignment;
  });
  return { extents, padded, sizeBytes: countElements(padded) * DTYPE_BYTES[binding.dtype] };
}

/** Bytes of each binding of a kernel at a shape. */
export function sizeBindings({ bindings }: KernelSpec, shape: KernelShape): number[] {
  return bindings.map((binding) => layoutBinding(binding, shape).sizeBytes);
}

/** Largest size of a binding on a device, in bytes. */
export function bindableBytes(
  limits: Pick<GPUSupportedLimits, "maxStorageBufferBindingSize" | "maxBufferSize">,
): number {
  return Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
}

/** Dense values, zero-padded to the device's extents. */
export function padValues(values: KernelArray, layout: PaddedLayout): KernelArray {
  if (isDense(layout)) return values;
  const target = createLike(values, countElements(layout.padded));
  for (const [dense, padded, length] of eachRow(layout)) target.set(values.subarray(dense, dense + length), padded);
  return target;
}

/** Dense values from padded ones. */
export function unpadValues(values: KernelArray, layout: PaddedLayout): KernelArray {
  if (isDense(layout)) return values;
  const target = createLike(values, countElements(layout.extents));
  for (const [dense, padded, length] of eachRow(layout)) target.set(values.subarray(padded, padded + length), dense);
  return target;
}

/** Offsets of each innermost row, dense and padded, and its length. */
function* eachRow({ extents, padded }: PaddedLayout): Generator<[dense: number, padded: number, length: number]> {
  const length = extents.at(-1) ?? 1;
  const pitch = padded.at(-1) ?? 1;
  const outer = extents.slice(0, -1);
  for (let row = 0; row < countElements(outer); row++) {
    let rest = row;
    let paddedRow = 0;
    let stride = 1;
    for (let axis = outer.length - 1; axis >= 0; axis--) {
      const extent = outer[axis] ?? 1;
      paddedRow += (rest % extent) * stride;
      rest = Math.floor(rest / extent);
      stride *= padded[axis] ?? 1;
    }
    yield [row * length, paddedRow * pitch, length];
  }
}

function isDense({ extents, padded }: PaddedLayout): boolean {
  return extents.every((extent, axis) => extent === padded[axis]);
}
