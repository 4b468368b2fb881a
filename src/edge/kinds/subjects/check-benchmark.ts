import type { Capabilities, KernelAnnouncement } from "../../../protocol/fleet/hardware.ts";
import type { BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import type { JobSubject } from "../../../protocol/jobs/job-fields.ts";
import { layOutKernel } from "../../../protocol/kernels/lay-out-kernel.ts";
import type { SubmittedKernel } from "../../../protocol/kernels/submitted-kernel.ts";
import { type FieldError, ProblemError, toPointerPart } from "../../../protocol/wire/problem.ts";
import { SUBMITTED_VARIANT } from "../../store/kernels/kernel-store.ts";
import { canRun } from "./kernel-devices.ts";

type Choices = Pick<KernelAnnouncement, "name" | "dimensions" | "batchDimension" | "dtypes" | "variants" | "axes">;

/** Fields of a job that select its kernel and the way it runs. */
type KernelRequest = Pick<BenchmarkSpec, "kernel" | "shape" | "dtype" | "variant" | "axes"> &
  Partial<Pick<BenchmarkSpec, "allowSmallerBatch" | "spread" | "deviceKey" | "onDeviceFailure">>;

/**
 * Checks a benchmark or a tuning against the runners' announcements: the kernel, its sizes, types, variants and their
 * axes. Throws `unknown-kernel` if no runner has the kernel, and `kernel-invalid` if no device has the features it
 * needs; returns the other faults.
 */
export function checkBenchmark(spec: KernelRequest, runners: readonly Capabilities[]): FieldError[] {
  const announced = runners.flatMap((capabilities) => capabilities.kernels);
  const kernel = announced.find(({ name }) => name === spec.kernel);
  if (kernel !== undefined) {
    const errors = checkChoices(spec, kernel);
    if (errors.length === 0) assertOffered(spec, kernel, runners);
    return errors;
  }
  const known = [...new Set(announced.map(({ name }) => name))].toSorted().join(", ");
  const message = known === "" ? "is not announced: no runner has connected yet" : `is not one of ${known}`;
  throw unknownKernel(`No runner has the kernel ${spec.kernel}.`, message);
}

/** The same for a submitted kernel, whose memory and dispatches must also be in bounds at these sizes. */
export function checkSubmitted(
  spec: KernelRequest,
  { id, definition, dtype, reference }: SubmittedKernel,
  runners: readonly Capabilities[],
): FieldError[] {
  if (!runners.some((runner) => canRun({ kernel: id, reference }, runner))) {
    const message = `needs a runner with a device for WGSL that takes submitted kernels and has ${reference}`;
    throw unknownKernel(`No runner can run ${id}.`, message);
  }
  const { dimensions } = definition;
  const choices = { dimensions, dtypes: [dtype], variants: [SUBMITTED_VARIANT], axes: { [SUBMITTED_VARIANT]: [] } };
  const errors = checkChoices(spec, { name: id, ...choices });
  if (spec.onDeviceFailure === "cpu-reference") {
    errors.push({ pointer: "#/onDeviceFailure", message: `needs a kernel of the runner's own, which ${id} is not` });
  }
  if (errors.length > 0) return errors;
  const sizes = Object.fromEntries(
    dimensions.map(({ name, default: standard }) => [name, spec.shape[name] ?? standard]),
  );
  const laidOut = layOutKernel(definition, sizes);
  if (laidOut.ok) return [];
  return laidOut.flaws.map(({ path, message }) => ({ pointer: "#/shape", message: `${path.join("/")} ${message}` }));
}

/** Throws `kernel-invalid` if no device can run a kernel by the requested variant. */
function assertOffered(
  { kernel, variant }: KernelRequest,
  { features = [] }: KernelAnnouncement,
  runners: readonly Capabilities[],
): void {
  if (runners.some((runner) => canRun({ kernel, variant }, runner))) return;
  const wanted = variant === undefined ? "one of its variants" : `its variant ${variant}`;
  const message = `needs ${features.join(" and ") || `a device that runs ${wanted}`}`;
  throw new ProblemError("kernel-invalid", `No device of any runner can run ${kernel}: it ${message}.`, {
    errors: [{ pointer: "#/kernel", message }],
  });
}

function unknownKernel(detail: string, message: string): ProblemError {
  return new ProblemError("unknown-kernel", detail, { errors: [{ pointer: "#/kernel", message }] });
}

function checkChoices(spec: KernelRequest, kernel: Choices): FieldError[] {
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
  if (spec.dtype !== undefined && !kernel.dtypes.includes(spec.dtype)) {
    errors.push({ pointer: "#/dtype", message: `must be ${kernel.dtypes.join(" or ")} for ${kernel.name}` });
  }
  if (spec.variant !== undefined && !kernel.variants.includes(spec.variant)) {
    errors.push({ pointer: "#/variant", message: `must be ${kernel.variants.join(" or ")} for ${kernel.name}` });
  }
  return [...errors, ...checkAxes(spec, kernel), ...checkBatch(spec, kernel)];
}

/** Only a kernel with a batch can have it halved or divided. */
function checkBatch(spec: KernelRequest, { name, batchDimension }: Choices): FieldError[] {
  const errors: FieldError[] = [];
  for (const wish of ["allowSmallerBatch", "spread"] as const) {
    if (spec[wish] === true && batchDimension === undefined) {
      errors.push({ pointer: `#/${wish}`, message: `needs a kernel with a batch, which ${name} has not` });
    }
  }
  if (spec.spread === true && spec.deviceKey !== undefined) {
    errors.push({ pointer: "#/spread", message: "cannot be together with deviceKey" });
  }
  return errors;
}

/** Axes belong to a variant; a runner that does not announce them checks them itself. */
function checkAxes({ variant, axes = {} }: KernelRequest, kernel: Choices): FieldError[] {
  if (Object.keys(axes).length > 0 && variant === undefined) {
    return [{ pointer: "#/axes", message: "wants a variant beside it" }];
  }
  const known = kernel.axes?.[variant ?? ""];
  if (known === undefined) return [];
  return Object.entries(axes).flatMap(([name, value]) => {
    const axis = known.find((candidate) => candidate.name === name);
    if (axis?.values.includes(value)) return [];
    const message =
      axis === undefined
        ? `is not an axis of ${variant}, which has ${known.map((candidate) => candidate.name).join(", ") || "none"}`
        : `must be one of ${axis.values.join(", ")}`;
    return [{ pointer: `#/axes/${toPointerPart(name)}`, message }];
  });
}

type KernelSubject = Extract<JobSubject, { kind: "kernel" }>;

/** Checks a kernel that is a job's subject as for a benchmark, with the same errors. */
export function checkKernelSubject(
  { kernel, shape, dtype, variant }: KernelSubject,
  runners: readonly Capabilities[],
): FieldError[] {
  try {
    return checkBenchmark({ kernel, shape, dtype, variant, axes: undefined }, runners).map(inSubject);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const { code, detail, errors = [] } = error.problem;
    throw new ProblemError(code, detail, { errors: errors.map(inSubject) });
  }
}

function inSubject({ pointer, message }: FieldError): FieldError {
  return { pointer: pointer.replace("#/", "#/subject/"), message };
}
