import type { KernelArray, KernelArrays } from "../../../kernels/kernel-spec.ts";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import type { KernelDefinition } from "../../protocol/kernel-definition.ts";
import { countElements } from "../../protocol/tensor.ts";
import { KERNEL_ARRAYS } from "./kernel-array.ts";

type Binding = KernelDefinition["bindings"][number];

/** Inputs of a submitted kernel: a pure function of shape and seed, with a stream for each binding. */
export function fillInputs(
  bindings: readonly Binding[],
  extents: readonly (readonly number[])[],
  seed: number,
): KernelArrays {
  return Object.fromEntries(
    bindings.flatMap(({ name, dtype, fill }, stream) =>
      fill === undefined ? [] : [[name, fillArray(dtype, fill, seed, stream, countElements(extents[stream] ?? []))]],
    ),
  );
}

function fillArray(
  dtype: Binding["dtype"],
  fill: NonNullable<Binding["fill"]>,
  seed: number,
  stream: number,
  length: number,
): KernelArray {
  const values = new KERNEL_ARRAYS[dtype](length);
  if (fill.kind === "constant") return values.fill(fill.value);
  const { kind, min, max } = fill;
  const uniform = seededUniform(seed, stream, length);
  const draw =
    kind === "uniform"
      ? (at: number) => min + at * (max - min)
      : (at: number) => min + Math.floor(at * (max - min + 1));
  for (let i = 0; i < length; i++) values[i] = draw((uniform[i]! + 1) / 2);
  return values;
}
