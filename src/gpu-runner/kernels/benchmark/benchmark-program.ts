import type { KernelShape } from "../../../../kernels/kernel-spec.ts";
import type { BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import type { KernelDefinition, KernelProgram } from "../../../protocol/kernels/kernel-definition.ts";
import { type KernelPlan, layOutKernel } from "../../../protocol/kernels/lay-out-kernel.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import {
  type BenchmarkDevice,
  type BenchmarkMeasurement,
  type BenchmarkOptions,
  benchmarkKernel,
} from "./benchmark-kernel.ts";
import { resolveBenchmark } from "../dispatch/resolve-benchmark.ts";
import { type KernelWork, makeWork, toSubmittedSpec } from "./submitted-work.ts";

/**
 * Benchmarks a submitted kernel like a built-in one, against its reference: the f64 reference of a built-in kernel,
 * expected outputs, or WGSL. Fails like `benchmarkKernel`, and with `kernel-invalid` where it exceeds its memory limit
 * or its work differs from the reference's.
 */
export async function benchmarkProgram(
  target: BenchmarkDevice,
  spec: BenchmarkSpec,
  { id, definition, reference }: KernelProgram,
  options: BenchmarkOptions,
): Promise<BenchmarkMeasurement> {
  const shape = Object.fromEntries(
    definition.dimensions.map(({ name, default: standard }) => [name, spec.shape[name] ?? standard]),
  );
  const plan = mustLayOut(definition, shape);
  const own = { id, definition, ...reference };
  const { kind } = own.definition.reference;
  const work =
    kind === "kernel"
      ? findWork(target, own.definition.reference.kernel, definition, plan, shape)
      : await makeWork(target, spec, { ...own, plan: mustLayOut(own.definition, shape) });
  if (reference !== null) {
    assertSameExtents(definition, plan, reference.definition.bindings, mustLayOut(reference.definition, shape).extents);
  }
  const kernel = toSubmittedSpec(id, `${definition.name}.wgsl`, definition, definition, work);
  // A separate pool: buffers that the reference released still hold the answers.
  const pool = target.pool.splitOff();
  try {
    return await benchmarkKernel({ ...target, pool, kernels: new Map([[id, kernel]]) }, spec, {
      ...options,
      distrusts: true,
    });
  } finally {
    pool.destroy();
  }
}

function mustLayOut(definition: KernelDefinition, shape: KernelShape): KernelPlan {
  const laidOut = layOutKernel(definition, shape);
  if (laidOut.ok) return laidOut.plan;
  const lines = laidOut.flaws.map(({ path, message }) => `${path.join("/")} ${message}`);
  throw new ProblemError("kernel-invalid", `The kernel does not fit this shape: ${lines.join("; ")}`);
}

/** Work of a built-in kernel. */
function findWork(
  { kernels }: BenchmarkDevice,
  name: string,
  definition: KernelDefinition,
  plan: KernelPlan,
  shape: KernelShape,
): KernelWork {
  const [dtype = "float32"] = kernels.get(name)?.dtypes ?? [];
  const { kernel } = resolveBenchmark(kernels, { kernel: name, shape, dtype });
  const extents = kernel.bindings.map((binding) => binding.extents(shape));
  assertSameExtents(definition, plan, kernel.bindings, extents);
  return kernel;
}

/** Except for scratch, the bindings must match the reference's. */
function assertSameExtents(
  { bindings }: KernelDefinition,
  { extents }: KernelPlan,
  wantedBindings: readonly { readonly name: string; readonly access: string }[],
  wantedExtents: readonly (readonly number[])[],
): void {
  for (const [index, { name, access }] of wantedBindings.entries()) {
    if (access === "scratch") continue;
    const wanted = wantedExtents[index] ?? [];
    const found = extents[bindings.findIndex((binding) => binding.name === name && binding.access === access)] ?? [];
    if (found.join() === wanted.join()) continue;
    const detail = `'${name}' is ${found.join(" × ") || "missing"}, and the reference has ${wanted.join(" × ")}`;
    throw new ProblemError("kernel-invalid", detail);
  }
}
