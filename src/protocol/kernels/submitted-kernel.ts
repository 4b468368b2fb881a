import { z } from "zod";
import { KernelAnnouncement } from "../fleet/hardware.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, pageOf } from "../wire/page.ts";
import { Problem } from "../wire/problem.ts";
import { countElements, DType } from "../wire/tensor.ts";
import { KernelDefinition, kernelFields, type SizeExpression, sizeNames } from "./kernel-definition.ts";
import { type Flaw, layOutKernel } from "./lay-out-kernel.ts";

type Binding = KernelDefinition["bindings"][number];
type Path = Flaw["path"];

/** Integers of a fill are drawn from as many steps. */
const FILL_STEPS = 2 ** 24;
const INTEGER_RANGES = { int32: [-(2 ** 31), 2 ** 31 - 1], int8: [-128, 127] } as const;

/** Consistency checks that a schema cannot make. Empty where all parts fit. */
export function checkKernelDefinition(definition: KernelDefinition): Flaw[] {
  const flaws = [
    ...checkDimensions(definition),
    ...checkNames(definition),
    ...definition.bindings.flatMap((binding, index) => checkBinding(binding, definition, ["bindings", index])),
    ...checkTolerance(definition),
  ];
  if (!definition.bindings.some(({ access }) => access === "write")) {
    flaws.push({ path: ["bindings"], message: "must have one with the access write" });
  }
  if (flaws.length > 0) return flaws;
  const sizes = Object.fromEntries(definition.dimensions.map((dimension) => [dimension.name, dimension.default]));
  const laidOut = layOutKernel(definition, sizes);
  return laidOut.ok ? checkExpected(definition, laidOut.plan.extents) : laidOut.flaws;
}

function checkDimensions({ dimensions, reference }: KernelDefinition): Flaw[] {
  return [
    ...findRepeated(dimensions, "dimensions"),
    ...dimensions.flatMap((dimension, index): Flaw[] => {
      const { min, max, default: standard } = dimension;
      if (max < min) return [{ path: ["dimensions", index, "max"], message: "must not be below min" }];
      if (standard < min || standard > max) {
        return [{ path: ["dimensions", index, "default"], message: `must lie between ${min} and ${max}` }];
      }
      if (reference.kind === "expected" && min !== max) {
        return [{ path: ["dimensions", index, "max"], message: "must be min: outputs are expected at one size" }];
      }
      return [];
    }),
  ];
}

/** Every name in an expression is one of a dimension. */
function checkNames({ bindings, passes, dimensions, reference }: KernelDefinition): Flaw[] {
  const known = dimensions.map(({ name }) => name);
  const check = (expressions: readonly SizeExpression[], path: Path): Flaw[] =>
    expressions.flatMap((expression, axis) => {
      const unknown = sizeNames(expression).find((name) => !known.includes(name));
      if (unknown === undefined) return [];
      return [{ path: [...path, axis], message: `'${unknown}' is no dimension; there are: ${known.join(", ")}` }];
    });
  const checkPasses = (list: typeof passes, path: Path) =>
    list.flatMap(({ workgroups }, index) => check(workgroups, [...path, index, "workgroups"]));
  return [
    ...findRepeated(bindings, "bindings"),
    ...bindings.flatMap(({ extents }, index) => check(extents, ["bindings", index, "extents"])),
    ...checkPasses(passes, ["passes"]),
    ...(reference.kind === "wgsl" ? checkPasses(reference.passes, ["reference", "passes"]) : []),
  ];
}

function findRepeated(items: readonly { name: string }[], field: string): Flaw[] {
  return items.flatMap(({ name }, index) =>
    items.findIndex((other) => other.name === name) === index
      ? []
      : [{ path: [field, index, "name"], message: `'${name}' is there already` }],
  );
}

function checkBinding(binding: Binding, { reference }: KernelDefinition, path: Path): Flaw[] {
  const { access, alignment, dtype, extents, fill } = binding;
  const flaws: Flaw[] = [];
  if (alignment !== undefined && alignment.length !== extents.length) {
    flaws.push({ path: [...path, "alignment"], message: "must have as many entries as extents" });
  }
  if (dtype === "int8" && (alignment?.at(-1) ?? 1) % 4 !== 0) {
    flaws.push({ path: [...path, "alignment"], message: "must end with a multiple of 4: int8 comes in whole words" });
  }
  const isFilled = access === "read" && reference.kind === "wgsl";
  if (isFilled && fill === undefined) {
    flaws.push({ path: [...path, "fill"], message: "is missing: nothing else says what is read" });
  }
  if (!isFilled && fill !== undefined) {
    const message = access === "read" ? "must be left out: the reference brings the inputs" : "is for inputs only";
    flaws.push({ path: [...path, "fill"], message });
  }
  if (fill !== undefined) flaws.push(...checkFill(fill, dtype, [...path, "fill"]));
  return flaws;
}

function checkFill(fill: NonNullable<Binding["fill"]>, dtype: Binding["dtype"], path: Path): Flaw[] {
  if (fill.kind === "uniform" && dtype !== "float32") {
    return [{ path: [...path, "kind"], message: `must be integers or constant for ${dtype}` }];
  }
  if (fill.kind === "constant") {
    return holds(dtype, fill.value) ? [] : [{ path: [...path, "value"], message: `is not a ${dtype}` }];
  }
  const wrong = (["min", "max"] as const).filter((bound) => !holds(dtype, fill[bound]));
  if (wrong.length > 0) return wrong.map((bound) => ({ path: [...path, bound], message: `is not a ${dtype}` }));
  if (fill.max < fill.min) return [{ path: [...path, "max"], message: "must not be below min" }];
  if (fill.kind === "integers" && fill.max - fill.min >= FILL_STEPS) {
    return [{ path: [...path, "max"], message: `must be less than ${FILL_STEPS} above min` }];
  }
  return [];
}

function checkTolerance({ reference, tolerance }: KernelDefinition): Flaw[] {
  if (reference.kind === "kernel" && tolerance !== undefined) {
    return [{ path: ["tolerance"], message: "must be left out: the reference has one" }];
  }
  if (reference.kind !== "kernel" && tolerance === undefined) return [{ path: ["tolerance"], message: "is missing" }];
  return [];
}

/** Given inputs and outputs are those of the bindings, with as many numbers as they have elements. */
function checkExpected({ bindings, reference }: KernelDefinition, extents: readonly (readonly number[])[]): Flaw[] {
  if (reference.kind !== "expected") return [];
  const given = [...Object.values(reference.inputs), ...Object.values(reference.outputs)];
  if (given.reduce((total, { length }) => total + length, 0) > LIMITS.kernelExpectedNumbers) {
    return [{ path: ["reference"], message: `must have at most ${LIMITS.kernelExpectedNumbers} numbers` }];
  }
  return (["inputs", "outputs"] as const).flatMap((side) => {
    const wanted = new Map(
      bindings.flatMap((binding, index) =>
        binding.access === (side === "inputs" ? "read" : "write")
          ? [[binding.name, { dtype: binding.dtype, length: countElements(extents[index] ?? []) }] as const]
          : [],
      ),
    );
    const strange = Object.keys(reference[side]).filter((name) => !wanted.has(name));
    return [
      ...strange.map((name) => ({ path: ["reference", side, name], message: `is none of the ${side}` })),
      ...[...wanted].flatMap(([name, { dtype, length }]): Flaw[] => {
        const numbers = reference[side][name];
        const path = ["reference", side, name];
        if (numbers?.length !== length) return [{ path, message: `must have ${length} numbers` }];
        const wrong = numbers.findIndex((value) => !holds(dtype, value));
        return wrong < 0 ? [] : [{ path: [...path, wrong], message: `is not a ${dtype}` }];
      }),
    ];
  });
}

function holds(dtype: Binding["dtype"], value: number): boolean {
  if (dtype === "float32") return Number.isFinite(Math.fround(value));
  const [min, max] = INTEGER_RANGES[dtype];
  return Number.isInteger(value) && value >= min && value <= max;
}

/** Input of a kernel submission. */
export const KernelInput = z
  .strictObject(kernelFields(z.strictObject as unknown as typeof z.object))
  .superRefine((definition, context) => {
    // Errors of single fields are reported before errors between fields.
    if (context.issues.length > 0) return;
    for (const { path, message } of checkKernelDefinition(definition)) {
      context.addIssue({ code: "custom", path: [...path], message });
    }
  })
  .meta({ id: "KernelInput" });
export type KernelInput = z.infer<typeof KernelInput>;

/** `valid` once a run was right, until then `invalid` where a run was refused or wrong. */
const KernelState = z.enum(["unchecked", "valid", "invalid"]).meta({ id: "KernelState" });

const submittedFields = {
  id: idSchema("kernel"),
  owner: z.string().meta({ description: "Id of the key that submitted it" }),
  reference: z
    .string()
    .meta({ description: "The kernel on whose leaderboard it stands: its own id if it competes with none" }),
  state: KernelState,
  createdAt: Instant,
};

/** A submitted kernel with everything that is known of it. */
export const SubmittedKernel = z
  .object({
    ...submittedFields,
    dtype: DType.meta({ description: "The element type that a job must name" }),
    digest: z.string().meta({ description: "Of the submission; the same one again gives the same kernel" }),
    problem: Problem.nullable().meta({
      description: "Why it is invalid, with `file:line:column: message` in `detail`",
    }),
    checkJobId: idSchema("job").nullable().meta({ description: "The benchmark that checks it first" }),
    definition: KernelDefinition,
  })
  .meta({ id: "SubmittedKernel" });
export type SubmittedKernel = z.infer<typeof SubmittedKernel>;

/** A kernel in the list: what a job may name, by `name` if it is announced and by `id` if it was submitted. */
const ListedKernel = KernelAnnouncement.extend({
  source: z.enum(["announced", "submitted"]),
  ...z.object(submittedFields).partial().shape,
}).meta({ id: "ListedKernel" });
export type ListedKernel = z.infer<typeof ListedKernel>;
export const KernelPage = pageOf(ListedKernel, "Kernel");
