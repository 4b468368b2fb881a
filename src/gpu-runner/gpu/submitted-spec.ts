import type { KernelBinding, KernelSpec } from "../../../kernels/kernel-spec.ts";
import type { KernelDefinition } from "../../protocol/kernel-definition.ts";
import { layOutPasses } from "../../protocol/lay-out-kernel.ts";
import { evaluateSize } from "../../protocol/size-expression.ts";

/** What a kernel computes, whatever its program: inputs, right answers, and how far from them it may be. */
export type KernelWork = Pick<KernelSpec, "dtypes" | "flops" | "bytes" | "tolerance" | "generate" | "reference">;

type Program = Pick<KernelDefinition, "wgsl" | "passes" | "constants">;

/** A submitted program as a kernel of ours: one variant, nothing to tune, and the WGSL in hand. */
export function toSubmittedSpec(
  name: string,
  file: string,
  { description, dimensions, bindings }: KernelDefinition,
  { wgsl, passes, constants }: Program,
  { dtypes, flops, bytes, tolerance, generate, reference }: KernelWork,
): KernelSpec {
  return {
    dtypes,
    flops,
    bytes,
    tolerance,
    generate,
    reference,
    name,
    description,
    folder: new URL("data:,"),
    dimensions,
    bindings: bindings.map(toBinding),
    variants: [
      {
        name: "submitted",
        file,
        code: wgsl,
        axes: [],
        constants: () => constants,
        passes: passes.map((pass) => ({
          entryPoint: pass.entryPoint,
          workgroups: (shape) => layOutPasses([pass], shape)[0] ?? [1, 1, 1],
        })),
      },
    ],
  };
}

function toBinding({
  name,
  access,
  dtype,
  extents,
  alignment = [],
}: KernelDefinition["bindings"][number]): KernelBinding {
  return {
    name,
    access,
    dtype,
    // Sizes that give none were refused before.
    extents: (shape) => extents.map((extent) => evaluateSize(extent, shape) ?? 1),
    alignment,
  };
}
