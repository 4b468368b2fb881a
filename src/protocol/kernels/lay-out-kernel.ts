import { evaluateSize, type KernelDefinition } from "./kernel-definition.ts";
import { countElements, DTYPE_BYTES } from "../wire/tensor.ts";

type Sizes = Readonly<Record<string, number>>;
type Pass = KernelDefinition["passes"][number];
export type Workgroups = readonly [number, number, number];

/** Workgroups along one dimension of a dispatch, as WebGPU promises them. */
const MAX_WORKGROUPS = 65_535;

/** An error in a kernel, by the path of the field. */
export interface Flaw {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** A kernel at one shape: what each binding and each pass comes to. */
export interface KernelPlan {
  /** Dense extents by binding, in order. */
  readonly extents: readonly (readonly number[])[];
  /** On the device, with padding; all bindings together. */
  readonly totalBytes: number;
  readonly workgroups: readonly Workgroups[];
}

/** Evaluates a kernel at sizes that are all given. Flaws where an extent, a dispatch or the memory is out of bounds. */
export function layOutKernel(
  definition: KernelDefinition,
  sizes: Sizes,
): { ok: true; plan: KernelPlan } | { ok: false; flaws: Flaw[] } {
  const flaws: Flaw[] = [];
  const extents = definition.bindings.map(({ extents: expressions }, index) =>
    expressions.map((expression, axis) => {
      const value = evaluateSize(expression, sizes);
      if (value !== null && value >= 1) return value;
      flaws.push({
        path: ["bindings", index, "extents", axis],
        message: `is ${value ?? "not exact"}, and must be 1 or more`,
      });
      return 1;
    }),
  );
  const workgroups = layOutPasses(definition.passes, sizes, ["passes"], flaws);
  if (definition.reference.kind === "wgsl") {
    layOutPasses(definition.reference.passes, sizes, ["reference", "passes"], flaws);
  }
  const totalBytes = definition.bindings.reduce(
    (total, { dtype, alignment }, index) =>
      total + countElements(padExtents(extents[index] ?? [], alignment ?? [])) * DTYPE_BYTES[dtype],
    0,
  );
  const { maxBytes } = definition.limits;
  if (totalBytes > maxBytes) {
    flaws.push({ path: ["limits", "maxBytes"], message: `is ${maxBytes}, and the bindings take ${totalBytes} bytes` });
  }
  return flaws.length > 0 ? { ok: false, flaws } : { ok: true, plan: { extents, totalBytes, workgroups } };
}

/** Workgroups of each pass along x, y and z; what is not given is 1. */
export function layOutPasses(
  passes: readonly Pass[],
  sizes: Sizes,
  path: readonly (string | number)[] = [],
  flaws: Flaw[] = [],
): Workgroups[] {
  return passes.map(({ workgroups }, index) => {
    const counts = workgroups.map((expression, axis) => {
      const value = evaluateSize(expression, sizes);
      if (value !== null && value >= 1 && value <= MAX_WORKGROUPS) return value;
      const message = `is ${value ?? "not exact"}, and must lie between 1 and ${MAX_WORKGROUPS}`;
      flaws.push({ path: [...path, index, "workgroups", axis], message });
      return 1;
    });
    return [counts[0] ?? 1, counts[1] ?? 1, counts[2] ?? 1];
  });
}

function padExtents(extents: readonly number[], alignment: readonly number[]): number[] {
  return extents.map((extent, axis) => {
    const multiple = alignment[axis] ?? 1;
    return Math.ceil(extent / multiple) * multiple;
  });
}
