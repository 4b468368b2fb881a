import { z } from "@hono/zod-openapi";
import { EDGE_VARIANTS } from "./edge-place.ts";
import { idSchema } from "./id.ts";
import { LIMITS } from "./limits.ts";
import type { TensorSpec } from "./model.ts";
import { JsonTensor } from "./tensor.ts";

/**
 * Has the edge compute a dense network on seeded inputs, so that a runner can compare what comes out and time it
 * from outside: the edge's own clock stands still meanwhile.
 */
export const EdgeRunInput = z
  .strictObject({
    modelVersionId: idSchema("modelVersion"),
    variant: z.enum(EDGE_VARIANTS),
    seed: z.number().int().min(0),
    rows: z.number().int().min(1).max(LIMITS.edgeRows).default(1),
    repetitions: z.number().int().min(1).max(LIMITS.edgeRepetitions).default(1).openapi({
      description: "Computes so often what it answers once",
    }),
    fresh: z.boolean().default(false).openapi({ description: "Loads the network again, as a new isolate does" }),
  })
  .openapi("EdgeRunInput");
export type EdgeRunInput = z.infer<typeof EdgeRunInput>;

/** A network's inputs for so many rows: they are the first axis, where that is free. */
export function withRows(specs: readonly TensorSpec[], rows: number): TensorSpec[] {
  return specs.map((spec) => ({
    ...spec,
    shape: spec.shape.map((size, axis) => (axis === 0 && size === -1 ? rows : size)),
  }));
}

export const EdgeRunReply = z
  .object({
    outputs: z.record(z.string(), JsonTensor),
    sizeBytes: z.number().openapi({ description: "Memory that the network takes in an isolate" }),
    rowProducts: z.number().int().min(1).openapi({
      description: "What a row takes, as the number of products of weights that take about as long",
    }),
  })
  .openapi("EdgeRunReply");
export type EdgeRunReply = z.infer<typeof EdgeRunReply>;
