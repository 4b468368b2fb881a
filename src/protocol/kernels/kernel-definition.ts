import { z } from "zod";
import { KernelDimension } from "../fleet/hardware.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Name } from "../wire/page.ts";

const OPERATIONS = {
  add: (a, b) => a + b,
  subtract: (a, b) => a - b,
  multiply: (a, b) => a * b,
  ceilDiv: (a, b) => Math.ceil(a / b),
  floorDiv: (a, b) => Math.floor(a / b),
  min: Math.min,
  max: Math.max,
} as const satisfies Record<string, (a: number, b: number) => number>;
type Operation = keyof typeof OPERATIONS;

/** Whole-number arithmetic over sizes: a number, the name of a dimension, or one operation on further ones. */
export type SizeExpression = number | string | { readonly [Name in Operation]?: readonly SizeExpression[] | undefined };

const MAX_DEPTH = 4;
const MAX_OPERANDS = 8;
const MESSAGE =
  `must be a whole number, the name of a dimension, or one of ${Object.keys(OPERATIONS).join(", ")} ` +
  `with a list of 2 to ${MAX_OPERANDS} of these, ${MAX_DEPTH} deep at most`;

/** A name as WGSL takes it, and no name that every JavaScript object has. */
const Identifier = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, "must be 1 to 64 letters, digits or '_' and begin with a letter")
  .refine((name) => !(name in {}), "is a reserved name");

function expressionWithin(depth: number): z.ZodType<SizeExpression> {
  const leaves = [z.int().min(0), Identifier] as const;
  if (depth === 1) return z.union(leaves, MESSAGE);
  const operands = z
    .array(expressionWithin(depth - 1))
    .min(2)
    .max(MAX_OPERANDS);
  const operation = z
    .strictObject(Object.fromEntries(Object.keys(OPERATIONS).map((name) => [name, operands.optional()])))
    .refine((given) => Object.keys(given).length === 1, { abort: true });
  return z.union([...leaves, operation], MESSAGE);
}

/** The depth is bounded by the schema itself, so no input makes it recurse far. */
export const SizeExpression: z.ZodType<SizeExpression> = expressionWithin(MAX_DEPTH).meta({
  description: 'Whole-number arithmetic over dimensions: `256`, `"n"`, `{"ceilDiv": ["n", 256]}`',
  example: { ceilDiv: ["n", 256] },
});

/**
 * The value at these sizes; operations of more than two operands go from left to right. Null where it
 * leaves the whole numbers that a double holds exactly, divides by zero or names no size.
 */
export function evaluateSize(expression: SizeExpression, sizes: Readonly<Record<string, number>>): number | null {
  if (typeof expression === "number") return toExact(expression);
  if (typeof expression === "string") return Object.hasOwn(sizes, expression) ? toExact(sizes[expression]) : null;
  const [[name, operands]] = Object.entries(expression) as [[Operation, readonly SizeExpression[]]];
  return operands
    .map((operand) => evaluateSize(operand, sizes))
    .reduce((left, right) => (left === null || right === null ? null : toExact(OPERATIONS[name](left, right))));
}

/** Names of the dimensions that an expression uses. */
export function sizeNames(expression: SizeExpression): string[] {
  if (typeof expression === "number") return [];
  if (typeof expression === "string") return [expression];
  return Object.values(expression).flatMap((operands) => (operands ?? []).flatMap(sizeNames));
}

function toExact(value: number | undefined): number | null {
  return Number.isSafeInteger(value) ? value! : null;
}

const Wgsl = z.string().min(1).max(LIMITS.kernelWgslLength);
const Text = z.string().max(512);
/** Numbers by binding, dense and row-major. */
const Numbers = z.record(Identifier, z.array(z.number()).max(LIMITS.kernelExpectedNumbers));
/** Element types that a binding of a kernel may have; WGSL sees four `int8` in a u32. */
export const BindingDType = z.enum(["float32", "int32", "int8"]);

/** Entry points in the order of one compute pass, and the values of `override`s. */
function programFields(object: typeof z.object) {
  return {
    wgsl: Wgsl.meta({ description: "Sizes stand in a uniform at binding 0, as u32 in the order of `dimensions`" }),
    passes: z
      .array(object({ entryPoint: Identifier, workgroups: z.array(SizeExpression).min(1).max(3) }))
      .min(1)
      .max(LIMITS.kernelPasses),
    constants: z
      .record(Identifier, z.number())
      .refine(
        (constants) => Object.keys(constants).length <= LIMITS.kernelConstants,
        `at most ${LIMITS.kernelConstants} constants`,
      )
      .default({}),
  };
}

/** Generation of the inputs from a seed. */
function fillOf(object: typeof z.object) {
  return z.discriminatedUnion("kind", [
    object({ kind: z.literal("uniform"), min: z.number(), max: z.number() }),
    object({ kind: z.literal("integers"), min: z.int(), max: z.int() }),
    object({ kind: z.literal("constant"), value: z.number() }),
  ]);
}

/** Source of inputs, expected outputs and tolerance. */
function referenceOf(object: typeof z.object) {
  return z.discriminatedUnion("kind", [
    object({ kind: z.literal("kernel"), kernel: Name }).meta({
      description: "An announced kernel by name, or a submitted one by id: its inputs, reference and tolerance count",
    }),
    object({ kind: z.literal("expected"), inputs: Numbers, outputs: Numbers }).meta({
      description: "Outputs that are known for these inputs; every dimension has one size only",
    }),
    object({ kind: z.literal("wgsl"), ...programFields(object) }).meta({
      description: "WGSL over the same bindings whose outputs are right",
    }),
  ]);
}

/**
 * Fields of a submitted kernel. `object` is `z.strictObject` for input and `z.object` for stored and offered data, at
 * every depth.
 */
export function kernelFields(object: typeof z.object) {
  return {
    name: Name,
    description: Text.default(""),
    ...programFields(object),
    dimensions: z
      .array(
        object({
          ...KernelDimension.shape,
          name: Identifier,
          description: Text.default(""),
          min: z.int().min(1),
          max: z.int().max(2 ** 32 - 1),
        }),
      )
      .min(1)
      .max(LIMITS.kernelDimensions),
    bindings: z
      .array(
        object({
          name: Identifier,
          dtype: BindingDType,
          access: z.enum(["read", "write", "scratch"]),
          extents: z.array(SizeExpression).min(1).max(4),
          alignment: z
            .array(z.int().min(1).max(256))
            .optional()
            .meta({ description: "Each extent is padded to a multiple of this on the device" }),
          fill: fillOf(object).optional(),
        }),
      )
      .min(1)
      .max(LIMITS.kernelBindings)
      .meta({ description: "Storage buffers at `@group(0)`, numbered from 1 in this order" }),
    limits: object({
      timeoutMs: z.int().min(100).max(LIMITS.kernelTimeoutMs).default(30_000),
      maxBytes: z.int().min(1).max(LIMITS.kernelBytes).default(LIMITS.kernelBytes),
    }).prefault({}),
    tolerance: object({
      relative: z.number().min(0).max(1),
      absolute: z.number().min(0),
      reason: Text.default("as submitted"),
    }).optional(),
    reference: referenceOf(object),
  };
}

/** A submitted kernel as it is stored and offered. */
export const KernelDefinition = z.object(kernelFields(z.object)).meta({ id: "KernelDefinition" });
export type KernelDefinition = z.infer<typeof KernelDefinition>;

const Identified = z.object({ id: idSchema("kernel"), definition: KernelDefinition });

/** Program of a submitted kernel for a runner; `reference` is the submitted kernel that it competes with, if any. */
export const KernelProgram = Identified.extend({ reference: Identified.nullable() });
export type KernelProgram = z.infer<typeof KernelProgram>;
