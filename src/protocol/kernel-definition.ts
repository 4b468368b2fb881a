import { z } from "@hono/zod-openapi";
import { KernelDimension } from "./hardware.ts";
import { idSchema } from "./id.ts";
import { LIMITS } from "./limits.ts";
import { Name } from "./page.ts";
import { Identifier, SizeExpression } from "./size-expression.ts";

const Wgsl = z.string().min(1).max(LIMITS.kernelWgslLength);
const Text = z.string().max(512);
/** Numbers by binding, dense and row-major. */
const Numbers = z.record(Identifier, z.array(z.number()).max(LIMITS.kernelExpectedNumbers));
/** Element types that a binding of a kernel may have; WGSL sees four `int8` in a u32. */
export const BindingDType = z.enum(["float32", "int32", "int8"]);

/** What is run: entry points in order inside one compute pass, and the values of `override`s. */
function programFields(object: typeof z.object) {
  return {
    wgsl: Wgsl.openapi({ description: "Sizes stand in a uniform at binding 0, as u32 in the order of `dimensions`" }),
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

/** How the inputs are made from a seed. */
function fillOf(object: typeof z.object) {
  return z.discriminatedUnion("kind", [
    object({ kind: z.literal("uniform"), min: z.number(), max: z.number() }),
    object({ kind: z.literal("integers"), min: z.int(), max: z.int() }),
    object({ kind: z.literal("constant"), value: z.number() }),
  ]);
}

/** Where inputs, right answers and tolerance come from. */
function referenceOf(object: typeof z.object) {
  return z.discriminatedUnion("kind", [
    object({ kind: z.literal("kernel"), kernel: Name }).openapi({
      description: "An announced kernel by name, or a submitted one by id: its inputs, reference and tolerance count",
    }),
    object({ kind: z.literal("expected"), inputs: Numbers, outputs: Numbers }).openapi({
      description: "Outputs that are known for these inputs; every dimension has one size only",
    }),
    object({ kind: z.literal("wgsl"), ...programFields(object) }).openapi({
      description: "WGSL over the same bindings whose outputs are right",
    }),
  ]);
}

/**
 * The fields of a kernel that somebody submits. `object` is `z.strictObject` for what callers send and
 * `z.object` for what is stored and offered, at every depth.
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
            .openapi({ description: "Each extent is padded to a multiple of this on the device" }),
          fill: fillOf(object).optional(),
        }),
      )
      .min(1)
      .max(LIMITS.kernelBindings)
      .openapi({ description: "Storage buffers at `@group(0)`, numbered from 1 in this order" }),
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
export const KernelDefinition = z.object(kernelFields(z.object)).openapi("KernelDefinition");
export type KernelDefinition = z.infer<typeof KernelDefinition>;

const Identified = z.object({ id: idSchema("kernel"), definition: KernelDefinition });

/** What a runner needs for a submitted kernel; `reference` is the submitted kernel that it competes with, if any. */
export const KernelProgram = Identified.extend({ reference: Identified.nullable() });
export type KernelProgram = z.infer<typeof KernelProgram>;
