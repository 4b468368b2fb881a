import type { KernelArrays, KernelReference, KernelShape, KernelSpec } from "../../../kernels/kernel-spec.ts";
import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import type { KernelDefinition } from "../../protocol/kernel-definition.ts";
import type { KernelPlan } from "../../protocol/lay-out-kernel.ts";
import { countElements, DTYPE_BYTES } from "../../protocol/tensor.ts";
import { type KernelContext, prepareKernel } from "./dispatch.ts";
import { withErrorScopes } from "./error-scopes.ts";
import { fillInputs } from "./fill-inputs.ts";
import { KERNEL_ARRAYS } from "./kernel-array.ts";
import { resolveBenchmark } from "./resolve-benchmark.ts";
import { type KernelWork, toSubmittedSpec } from "./submitted-spec.ts";

/** A submitted kernel that says itself what is right, laid out at the shape that is run. */
export interface OwnReference {
  readonly id: string;
  readonly definition: KernelDefinition;
  readonly plan: KernelPlan;
}

/** The work that a submitted kernel defines: its inputs, and outputs that were given or are computed here. */
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
    // Nobody knows what the work of a user takes.
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

/** What was expected, or what the user's own reference gives on this device. */
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
  // A name of its own: what is compiled under a kernel's name is the kernel.
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
