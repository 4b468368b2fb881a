import type { Capabilities } from "../../protocol/hardware.ts";
import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import { type FieldError, ProblemError, toPointerPart } from "../../protocol/problem.ts";

/** What of a job says which kernel runs, and how. */
type KernelRequest = Pick<BenchmarkSpec, "kernel" | "shape" | "dtype" | "variant">;

/**
 * Checks a benchmark against what the runners announce: the kernel, its sizes, its types and its
 * variants. Throws `unknown-kernel` where nobody has the kernel; gives the other mistakes back.
 */
export function checkBenchmark(spec: KernelRequest, runners: readonly Capabilities[]): FieldError[] {
  const announced = runners.flatMap((capabilities) => capabilities.kernels);
  const kernel = announced.find(({ name }) => name === spec.kernel);
  if (kernel === undefined) {
    const known = [...new Set(announced.map(({ name }) => name))].toSorted().join(", ");
    const message = known === "" ? "is not announced: no runner has connected yet" : `is not one of ${known}`;
    throw new ProblemError("unknown-kernel", `No runner has the kernel ${spec.kernel}.`, {
      errors: [{ pointer: "#/kernel", message }],
    });
  }
  const errors: FieldError[] = [];
  for (const [name, size] of Object.entries(spec.shape)) {
    const dimension = kernel.dimensions.find((known) => known.name === name);
    const message =
      dimension === undefined
        ? `is not a dimension of ${kernel.name}, which has ${kernel.dimensions.map((known) => known.name).join(", ")}`
        : size < dimension.min || size > dimension.max
          ? `must lie between ${dimension.min} and ${dimension.max}`
          : null;
    if (message !== null) errors.push({ pointer: `#/shape/${toPointerPart(name)}`, message });
  }
  if (!kernel.dtypes.includes(spec.dtype)) {
    errors.push({ pointer: "#/dtype", message: `must be ${kernel.dtypes.join(" or ")} for ${kernel.name}` });
  }
  if (spec.variant !== undefined && !kernel.variants.includes(spec.variant)) {
    errors.push({ pointer: "#/variant", message: `must be ${kernel.variants.join(" or ")} for ${kernel.name}` });
  }
  return errors;
}
