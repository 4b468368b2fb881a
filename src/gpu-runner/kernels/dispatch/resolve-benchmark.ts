import type { AxisValues, KernelShape, KernelSpec, KernelVariant } from "../../../../kernels/kernel-spec.ts";
import type { BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import { type FieldError, ProblemError } from "../../../protocol/wire/problem.ts";

/** Resolved choice of a kernel: every size, the variant and a value for each of its axes. */
export interface KernelChoice {
  readonly kernel: KernelSpec;
  readonly variant: KernelVariant;
  readonly shape: KernelShape;
  readonly axes: AxisValues;
}

type Request = Pick<BenchmarkSpec, "kernel" | "shape" | "dtype" | "variant">;

/**
 * Fills in defaults of a request and checks the rest. Fails with `unknown-kernel`, or with `invalid-request`, which
 * names every invalid field.
 */
export function resolveBenchmark(
  kernels: ReadonlyMap<string, KernelSpec>,
  request: Request,
  axes: AxisValues = {},
): KernelChoice {
  const kernel = kernels.get(request.kernel);
  if (kernel === undefined) {
    const message = `must be one of: ${[...kernels.keys()].join(", ")}`;
    throw new ProblemError("unknown-kernel", `There is no kernel '${request.kernel}'`, {
      errors: [{ pointer: "#/kernel", message }],
    });
  }
  const errors: FieldError[] = [];
  const shape = resolveShape(kernel, request.shape, errors);
  if (request.dtype !== undefined && !kernel.dtypes.includes(request.dtype)) {
    errors.push({ pointer: "#/dtype", message: `must be one of: ${kernel.dtypes.join(", ")}` });
  }
  // A preference may depend on sizes, so it is asked once they are valid.
  const preferred = errors.length === 0 ? kernel.preferVariant?.(shape) : undefined;
  const possible = kernel.variants.filter((candidate) => errors.length > 0 || (candidate.takes?.(shape) ?? true));
  const name = request.variant ?? preferred ?? possible[0]?.name;
  const variant = possible.find((candidate) => candidate.name === name);
  if (variant === undefined) {
    const message = `must be one of those that take this shape: ${possible.map((each) => each.name).join(", ")}`;
    errors.push({ pointer: "#/variant", message });
  }
  const values = variant === undefined ? {} : resolveAxes(variant, axes, errors);
  if (variant === undefined || errors.length > 0) {
    throw new ProblemError("invalid-request", `The kernel '${kernel.name}' cannot run like this`, { errors });
  }
  return { kernel, variant, shape, axes: values };
}

function resolveShape(kernel: KernelSpec, sizes: KernelShape, errors: FieldError[]): KernelShape {
  const names = kernel.dimensions.map(({ name }) => name);
  for (const name of Object.keys(sizes)) {
    if (!names.includes(name)) {
      errors.push({ pointer: `#/shape/${name}`, message: `is no size of this kernel; it has: ${names.join(", ")}` });
    }
  }
  return Object.fromEntries(
    kernel.dimensions.map(({ name, min, max, default: standard }) => {
      const size = sizes[name] ?? standard;
      if (!Number.isInteger(size) || size < min || size > max) {
        errors.push({ pointer: `#/shape/${name}`, message: `must be a whole number from ${min} to ${max}` });
      }
      return [name, size];
    }),
  );
}

function resolveAxes(variant: KernelVariant, axes: AxisValues, errors: FieldError[]): AxisValues {
  const names = variant.axes.map(({ name }) => name);
  for (const name of Object.keys(axes)) {
    if (!names.includes(name)) {
      errors.push({ pointer: `#/axes/${name}`, message: `is no axis of ${variant.name}; it has: ${names.join(", ")}` });
    }
  }
  return Object.fromEntries(
    variant.axes.map(({ name, values, default: standard }) => {
      const value = axes[name] ?? standard;
      if (!values.includes(value))
        errors.push({ pointer: `#/axes/${name}`, message: `must be one of: ${values.join(", ")}` });
      return [name, value];
    }),
  );
}
