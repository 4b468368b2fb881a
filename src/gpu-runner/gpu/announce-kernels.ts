import type { KernelSpec } from "../../../kernels/kernel-spec.ts";
import type { KernelAnnouncement } from "../../protocol/hardware.ts";

/** What the edge is told of the kernels: names, sizes and bounds, never a program. */
export function announceKernels(kernels: ReadonlyMap<string, KernelSpec>): KernelAnnouncement[] {
  return [...kernels.values()].map(
    ({ name, description, dimensions, batchDimension, dtypes, features, variants, bindings }) => ({
      name,
      description,
      dimensions: [...dimensions],
      ...(batchDimension !== undefined && { batchDimension }),
      dtypes: [...dtypes],
      ...(features !== undefined && { features: [...features] }),
      variants: variants.map((variant) => variant.name),
      bindings: bindings.map((binding) => ({
        name: binding.name,
        access: binding.access,
        dtype: binding.dtype,
        alignment: [...binding.alignment],
      })),
      axes: Object.fromEntries(
        variants.map((variant) => [
          variant.name,
          variant.axes.map(({ name: axis, values, default: standard }) => ({
            name: axis,
            values: [...values],
            default: standard,
          })),
        ]),
      ),
    }),
  );
}
