import { z } from "@hono/zod-openapi";

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
export const Identifier = z
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
export const SizeExpression: z.ZodType<SizeExpression> = expressionWithin(MAX_DEPTH).openapi({
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
