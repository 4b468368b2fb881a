import { z } from "@hono/zod-openapi";
import { computeWishes, JsonInputs } from "./compute.ts";
import { LIMITS } from "./limits.ts";
import { TensorHeader } from "./tensor.ts";

/** What can be done with holographic reduced representations (Plate, IEEE Trans. Neural Networks 1995). */
export const HrrOperation = z
  .enum(["bind", "unbind", "superpose", "similarity", "project"])
  .openapi("HrrOperation", { description: "See docs/methodology.md for what each computes" });
export type HrrOperation = z.infer<typeof HrrOperation>;

export const HrrDimension = z.number().int().min(1).max(LIMITS.hrrDimension);
const Seed = z
  .number()
  .int()
  .min(0)
  .max(2 ** 32 - 1);

const operationFields = {
  ...computeWishes,
  dimension: HrrDimension.optional().openapi({ description: "Of a projection: values of its results" }),
  seed: Seed.default(1).openapi({ description: "Of a projection: its matrix" }),
};

/** Vectors for an operation by name: `a`, `b` of bind; `c`, `a` of unbind; `x`, `y` of similarity; `x` of the others. */
export const HrrRequest = z.strictObject({ ...operationFields, inputs: JsonInputs }).openapi("HrrRequest");
export type HrrRequest = z.infer<typeof HrrRequest>;

/** The same in the binary form. */
export const HrrFrameHeader = z.strictObject({
  ...operationFields,
  tensors: z.array(TensorHeader).min(1).max(LIMITS.tensorsPerRequest),
});

/** Symbols that become vectors of normal numbers of variance 1/d: the same symbol and seed, the same vector. */
export const EncodeRequest = z
  .strictObject({
    ...computeWishes,
    symbols: z.array(z.string().min(1).max(256)).min(1).max(LIMITS.hrrSymbols),
    dimension: HrrDimension,
    seed: Seed.default(1),
  })
  .openapi("EncodeRequest");
export type EncodeRequest = z.infer<typeof EncodeRequest>;
