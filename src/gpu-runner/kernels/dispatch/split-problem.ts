import type {
  KernelArray,
  KernelArrays,
  KernelBinding,
  KernelShape,
  KernelSpec,
} from "../../../../kernels/kernel-spec.ts";
import { countElements } from "../../../protocol/wire/tensor.ts";
import { bindableBytes, sizeBindings } from "./padded-layout.ts";

/** Limits of one part of a problem. */
export type PartLimits = Readonly<
  Record<"maxStorageBufferBindingSize" | "maxBufferSize" | "maxComputeWorkgroupsPerDimension", number>
>;

/** Consecutive items of a problem along the size by which it may be split. */
export interface ProblemPart {
  readonly shape: KernelShape;
  /** First item, number of items, and total number. */
  readonly from: number;
  readonly count: number;
  readonly total: number;
}

/**
 * Splits into the fewest parts that fit the limits: all of one size but the last. `countGroups` returns the workgroups
 * of all passes along each dimension. One part where everything fits, where the kernel cannot be split, and where not
 * even one item fits: dispatch then reports the excess.
 */
export function splitProblem(
  limits: PartLimits,
  kernel: KernelSpec,
  shape: KernelShape,
  countGroups: (shape: KernelShape) => readonly number[],
): readonly ProblemPart[] {
  const total = kernel.splitBy === undefined ? 1 : (shape[kernel.splitBy] ?? 1);
  const cut = (from: number, count: number): ProblemPart => ({
    shape: kernel.splitBy === undefined ? shape : { ...shape, [kernel.splitBy]: count },
    from,
    count,
    total,
  });
  const fits = (count: number) => {
    const part = cut(0, count).shape;
    return (
      sizeBindings(kernel, part).every((sizeBytes) => sizeBytes <= bindableBytes(limits)) &&
      countGroups(part).every((groups) => groups <= limits.maxComputeWorkgroupsPerDimension)
    );
  };
  if (total === 1 || fits(total) || !fits(1)) return [cut(0, total)];
  let most = 1;
  for (let tooMany = total; tooMany - most > 1;) {
    const middle = Math.floor((most + tooMany) / 2);
    if (fits(middle)) most = middle;
    else tooMany = middle;
  }
  return Array.from({ length: Math.ceil(total / most) }, (_, part) =>
    cut(part * most, Math.min(most, total - part * most)),
  );
}

/** Inputs of a part: its share of the bindings that depend on the split, the others whole. */
export function sliceInputs(
  { bindings }: KernelSpec,
  shape: KernelShape,
  { shape: partShape, from, count, total }: ProblemPart,
  inputs: KernelArrays,
): KernelArrays {
  const slice = (binding: KernelBinding, values: KernelArray): KernelArray => {
    if (countElements(binding.extents(partShape)) === countElements(binding.extents(shape))) return values;
    const each = values.length / total;
    return values.subarray(from * each, (from + count) * each);
  };
  return Object.fromEntries(
    bindings.flatMap((binding) => {
      const values = inputs[binding.name];
      return values === undefined ? [] : [[binding.name, slice(binding, values)]];
    }),
  );
}
