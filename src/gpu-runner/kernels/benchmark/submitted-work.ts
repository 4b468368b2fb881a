import type {
  KernelArray,
  KernelArrays,
  KernelBinding,
  KernelReference,
  KernelShape,
  KernelSpec,
} from "../../../../kernels/kernel-spec.ts";
import { seededUniform } from "../../../../kernels/seeded-uniform.ts";
import type { BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import { evaluateSize, type KernelDefinition } from "../../../protocol/kernels/kernel-definition.ts";
import { type KernelPlan, layOutPasses } from "../../../protocol/kernels/lay-out-kernel.ts";
import { countElements, DTYPE_BYTES } from "../../../protocol/wire/tensor.ts";
import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { type KernelContext, prepareKernel } from "../dispatch/dispatch.ts";
import { KERNEL_ARRAYS } from "../dispatch/padded-layout.ts";
import { resolveBenchmark } from "../dispatch/resolve-benchmark.ts";

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

/** Computation of a kernel, independent of its program: inputs, correct outputs, and their tolerance. */
export type KernelWork = Pick<KernelSpec, "dtypes" | "flops" | "bytes" | "tolerance" | "generate" | "reference">;

type Program = Pick<KernelDefinition, "wgsl" | "passes" | "constants">;

/** Submitted program as a kernel spec: one variant, no tuning, and the WGSL in memory. */
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
    // Sizes without a value were refused before.
    extents: (shape) => extents.map((extent) => evaluateSize(extent, shape) ?? 1),
    alignment,
  };
}

/** Submitted kernel that defines its own correct outputs, laid out at the shape that is run. */
export interface OwnReference {
  readonly id: string;
  readonly definition: KernelDefinition;
  readonly plan: KernelPlan;
}

/** Work that a submitted kernel defines: its inputs, and outputs that were given or are computed here. */
export async function makeWork(context: KernelContext, spec: BenchmarkSpec, own: OwnReference): Promise<KernelWork> {
  const { bindings, reference, tolerance } = own.definition;
  const sizesBytes = bindings.map(({ access, dtype }, index) =>
    access === "scratch" ? 0 : countElements(own.plan.extents[index] ?? []) * DTYPE_BYTES[dtype],
  );
  const generate = (_: KernelShape, seed: number) =>
    reference.kind === "expected"
      ? toArrays(own.definition, reference.inputs)
      : fillInputs(bindings, own.plan.extents, seed);
  const outputs = await findOutputs(context, spec, own, generate);
  return {
    dtypes: [bindings.find(({ access }) => access === "write")?.dtype ?? "float32"],
    // The work of a user's kernel is unknown.
    flops: () => 0,
    bytes: () => sizesBytes.reduce((total, size) => total + size, 0),
    tolerance: {
      relative: tolerance?.relative ?? 0,
      absolute: () => tolerance?.absolute ?? 0,
      reason: tolerance?.reason ?? "exact",
    },
    generate,
    reference: () => toReference(own.definition, outputs),
  };
}

function toArrays({ bindings }: KernelDefinition, numbers: Readonly<Record<string, readonly number[]>>): KernelArrays {
  return Object.fromEntries(bindings.map(({ name, dtype }) => [name, KERNEL_ARRAYS[dtype].from(numbers[name] ?? [])]));
}

/** Expected outputs, or the result of the user's own reference on this device. */
async function findOutputs(
  context: KernelContext,
  { shape, seed }: BenchmarkSpec,
  { id, definition }: OwnReference,
  generate: KernelSpec["generate"],
): Promise<KernelArrays> {
  const { name, reference } = definition;
  if (reference.kind === "kernel") return {};
  if (reference.kind === "expected") return toArrays(definition, reference.outputs);
  const unknown: KernelWork = {
    dtypes: ["float32"],
    flops: () => 0,
    bytes: () => 0,
    tolerance: { relative: 0, absolute: () => 0, reason: "" },
    generate,
    reference: () => toReference(definition, {}),
  };
  // A name of its own, since a compiled program under a kernel's name is taken for that kernel.
  const kernel = toSubmittedSpec(`${id}.reference`, `${name}.wgsl`, definition, reference, unknown);
  const request = { kernel: kernel.name, shape, dtype: "float32" } as const;
  const choice = resolveBenchmark(new Map([[kernel.name, kernel]]), request);
  const prepared = await prepareKernel(context, choice, generate(choice.shape, seed));
  try {
    const outputs = await withErrorScopes(context.device, () => {
      context.device.queue.submit([prepared.encode()]);
      const written = kernel.bindings.filter(({ access }) => access === "write");
      return Promise.all(written.map(async (binding) => [binding.name, await prepared.read(binding.name)] as const));
    });
    return Object.fromEntries(outputs);
  } finally {
    prepared.release();
  }
}

function toReference({ bindings }: KernelDefinition, outputs: KernelArrays): KernelReference {
  const [first, ...others] = bindings
    .filter(({ access }) => access === "write")
    .map(({ name }): KernelReference => {
      const values = outputs[name];
      return { output: name, length: values?.length ?? 0, elementFlops: 1, element: (index) => values?.[index] ?? NaN };
    });
  if (first === undefined) throw new TypeError("the kernel writes nothing");
  return { ...first, others };
}
