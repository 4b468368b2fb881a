import type { Capabilities } from "../../../protocol/fleet/hardware.ts";
import type { KernelDefinition } from "../../../protocol/kernels/kernel-definition.ts";
import { invalidRequest } from "../../../protocol/wire/parse-input.ts";
import { type FieldError, ProblemError } from "../../../protocol/wire/problem.ts";
import type { DType } from "../../../protocol/wire/tensor.ts";
import type { ProjectDatabase } from "../../store/database.ts";
import { findKernel, isKernelId } from "../../store/kernels/kernel-store.ts";

/** Reference that a submission competes with (null for none), and the element type of its benchmarks. */
export interface ResolvedReference {
  readonly reference: string | null;
  readonly dtype: DType;
}

/** The reference's work as far as the edge knows it: a runner's announcement has no extents. */
interface Work {
  readonly dimensions: readonly { name: string; min: number; max: number }[];
  readonly bindings: readonly { name: string; access: string; dtype: DType }[];
  readonly dtype: DType;
}

/**
 * Finds the reference kernel of a submission and compares dimensions and bindings. Throws `unknown-kernel` if no runner
 * has it, and `invalid-request` if it does other work.
 */
export async function resolveReference(
  db: ProjectDatabase,
  definition: KernelDefinition,
  runners: readonly Capabilities[],
): Promise<ResolvedReference> {
  if (definition.reference.kind !== "kernel") return { reference: null, dtype: outputTypeOf(definition) };
  const { kernel } = definition.reference;
  const work = isKernelId(kernel) ? await findSubmitted(db, kernel) : findAnnounced(kernel, runners);
  if (work === null) {
    throw new ProblemError("unknown-kernel", `There is no kernel ${kernel} to compete with.`, {
      errors: [{ pointer: "#/reference/kernel", message: "is neither announced by a runner nor submitted" }],
    });
  }
  const errors = [...compareDimensions(definition, work), ...compareBindings(definition, work)];
  if (errors.length > 0) throw invalidRequest(errors);
  return { reference: kernel, dtype: work.dtype };
}

function outputTypeOf({ bindings }: KernelDefinition): DType {
  return bindings.find(({ access }) => access === "write")?.dtype ?? "float32";
}

async function findSubmitted(db: ProjectDatabase, id: string): Promise<Work | null> {
  const found = await findKernel(db, id);
  if (found === null) return null;
  if (found.reference !== id) {
    const message = `competes with ${found.reference} itself: name that one`;
    throw invalidRequest([{ pointer: "#/reference/kernel", message }]);
  }
  return { ...found.definition, dtype: found.dtype };
}

function findAnnounced(name: string, runners: readonly Capabilities[]): Work | null {
  const announced = runners.flatMap(({ kernels }) => kernels).filter((kernel) => kernel.name === name);
  // Runners older than submitted kernels do not announce bindings.
  const { dimensions, bindings, dtypes } = announced.find((kernel) => kernel.bindings !== undefined) ?? {};
  if (dimensions === undefined || bindings === undefined) return null;
  return { dimensions, bindings, dtype: dtypes?.[0] ?? "float32" };
}

function compareDimensions({ dimensions }: KernelDefinition, work: Work): FieldError[] {
  const missing = work.dimensions.filter(({ name }) => !dimensions.some((dimension) => dimension.name === name));
  return [
    ...missing.map(({ name }) => ({ pointer: "#/dimensions", message: `must have ${name}, as the reference has` })),
    ...dimensions.flatMap(({ name, min, max }, index) => {
      const known = work.dimensions.find((dimension) => dimension.name === name);
      const pointer = `#/dimensions/${index}`;
      if (known === undefined) return [{ pointer: `${pointer}/name`, message: "is no dimension of the reference" }];
      return [
        ...(min < known.min ? [{ pointer: `${pointer}/min`, message: `must be ${known.min} or more` }] : []),
        ...(max > known.max ? [{ pointer: `${pointer}/max`, message: `must be ${known.max} or less` }] : []),
      ];
    }),
  ];
}

/** Scratch bindings are private to a kernel. */
function compareBindings({ bindings }: KernelDefinition, work: Work): FieldError[] {
  const wanted = work.bindings.filter(({ access }) => access !== "scratch");
  const missing = wanted.filter(({ name }) => !bindings.some((binding) => binding.name === name));
  return [
    ...missing.map(({ name }) => ({ pointer: "#/bindings", message: `must have ${name}, as the reference has` })),
    ...bindings.flatMap(({ name, access, dtype }, index) => {
      if (access === "scratch") return [];
      const known = wanted.find((binding) => binding.name === name);
      const pointer = `#/bindings/${index}`;
      if (known === undefined) return [{ pointer: `${pointer}/name`, message: "is no binding of the reference" }];
      return [
        ...(access === known.access ? [] : [{ pointer: `${pointer}/access`, message: `must be ${known.access}` }]),
        ...(dtype === known.dtype ? [] : [{ pointer: `${pointer}/dtype`, message: `must be ${known.dtype}` }]),
      ];
    }),
  ];
}
