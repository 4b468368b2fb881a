import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { JsonTensor } from "../wire/tensor.ts";
import { FIRST_VARIANT, type TensorSpec } from "./model.ts";

/**
 * The edge as a place where models are computed (backend `edge-wasm`). It stands where a placement names its
 * runner; no runner has this id, and none can get it.
 */
export const EDGE_RUNNER_ID = `rnr_${"edge".padStart(26, "0")}`;
export const EDGE_DEVICE_KEY = "edge";

/** Ways in which the edge computes a dense network from the version's own file: float32, or weights of one byte. */
export const EDGE_VARIANTS = [FIRST_VARIANT, "edge-int8"] as const;
export type EdgeVariant = (typeof EDGE_VARIANTS)[number];

/** Below this many numbers in weights and biases those of one byte save no time. */
const QUANTISED_PARAMETERS = 16_384;

/** Variants that the edge computes of a dense network with this many parameters. */
export function edgeVariantsOf(parameters: number): EdgeVariant[] {
  return EDGE_VARIANTS.filter((variant) => variant === FIRST_VARIANT || parameters >= QUANTISED_PARAMETERS);
}

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
    repetitions: z.number().int().min(1).max(LIMITS.edgeRepetitions).default(1).meta({
      description: "Computes so often what it answers once",
    }),
    fresh: z.boolean().default(false).meta({ description: "Loads the network again, as a new isolate does" }),
  })
  .meta({ id: "EdgeRunInput" });
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
    sizeBytes: z.number().meta({ description: "Memory that the network takes in an isolate" }),
    rowProducts: z.number().int().min(1).meta({
      description: "What a row takes, as the number of products of weights that take about as long",
    }),
  })
  .meta({ id: "EdgeRunReply" });
export type EdgeRunReply = z.infer<typeof EdgeRunReply>;

export const edgeEndpoints = {
  runAtEdge: defineEndpoint({
    method: "post",
    path: "/v1/link/edge-runs",
    tag: "runners",
    summary: "Have the edge compute a dense network on seeded inputs, as a runner that compares and times it",
    access: "runner",
    body: EdgeRunInput,
    reply: { status: 200, schema: EdgeRunReply },
    problems: ["not-found", "backend-failed"],
  }),
} as const;
