import type { KernelPass, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { MAX_GROUPS } from "../webgpu-limits.ts";
import { emptyDispatchReference } from "./empty-dispatch.reference.ts";

const pass: KernelPass<"groups"> = { entryPoint: "main", workgroups: ({ groups }) => [groups, 1, 1] };

const createVariant = (name: string, dispatches: number): KernelVariant<"groups", "lanes"> => ({
  name,
  file: "empty-dispatch.wgsl",
  axes: [{ name: "lanes", values: [1, 32, 64, 256], default: 64 }],
  passes: Array.from({ length: dispatches }, () => pass),
});

/**
 * The cost of launching. One dispatch includes the submission. The cost of a dispatch alone is a fifteenth of the
 * difference between sixteen dispatches and one.
 */
export const emptyDispatch: KernelSpec<"groups"> = {
  name: "empty-dispatch",
  description: "Launch cost: dispatches that do nothing but leave a mark",
  folder: new URL(".", import.meta.url),
  dimensions: [{ name: "groups", description: "Workgroups of a dispatch", min: 1, max: MAX_GROUPS, default: 1 }],
  dtypes: ["int32"],
  bindings: [{ name: "mark", access: "write", dtype: "int32", extents: () => [1], alignment: [1] }],
  variants: [createVariant("one-dispatch", 1), createVariant("sixteen-dispatches", 16)],
  flops: () => 0,
  bytes: () => 4,
  tolerance: { relative: 0, absolute: () => 0, reason: "an integer" },
  generate: () => ({}),
  reference: emptyDispatchReference,
};
