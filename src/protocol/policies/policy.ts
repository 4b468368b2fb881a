import { z } from "zod";
import { InferReplyHeader, wishFields } from "../inference/inference.ts";
import { LIMITS } from "../wire/limits.ts";
import { Labels } from "../wire/page.ts";
import { Problem } from "../wire/problem.ts";
import { float32Numbers } from "../wire/tensor.ts";

/** Choice of an action from the outputs: the index of the largest, a draw from their softmax, or all of them. */
export const ActionChoice = z.enum(["argmax", "sample", "raw"]).meta({ id: "ActionChoice" });
export type ActionChoice = z.infer<typeof ActionChoice>;

const Seed = z
  .number()
  .int()
  .min(0)
  .max(2 ** 32 - 1);

const Observation = float32Numbers(LIMITS.observationElements).meta({
  description: "Numbers of one observation, row-major",
});

/** Checks the count before any single observation. */
const Observations = z
  .array(z.any())
  .min(1)
  .max(LIMITS.observations)
  .pipe(z.array(Observation))
  .meta({ type: "array", items: { type: "array", items: { type: "number" } } });

/** Asks a policy what to do: in one situation, or in many at once. */
export const ActRequest = z
  .strictObject({
    observation: Observation.optional(),
    observations: Observations.optional(),
    ...wishFields,
    action: ActionChoice.default("argmax"),
    seed: Seed.optional().meta({
      description: "Of sampled actions, random without one; the n-th observation has the n-th draw",
    }),
  })
  .refine((request) => (request.observation === undefined) !== (request.observations === undefined), {
    path: ["observation"],
    message: "must be given, or observations, and not both",
  })
  .meta({ id: "ActRequest" });
export type ActRequest = z.infer<typeof ActRequest>;

/** An index, or all outputs. */
const Action = z.union([z.number(), z.array(z.number())]);

/** The action for an `observation`, or the `actions` for `observations` in their order. */
export const ActReply = z
  .object({
    ...InferReplyHeader.omit({ tensors: true }).shape,
    action: Action.optional(),
    actions: z.array(Action).optional(),
    seed: Seed.optional().meta({ description: "Of sampled actions" }),
  })
  .meta({ id: "ActReply" });
export type ActReply = z.infer<typeof ActReply>;

/** Settings for every message of a stream: those of any inference, as text. */
export const ActStreamQuery = z.strictObject({
  ...wishFields,
  budgetMs: z.coerce
    .number()
    .pipe(wishFields.budgetMs)
    .meta({ description: "Milliseconds from a message's arrival to its answer" }),
  confidence: z.coerce
    .number()
    .optional()
    .pipe(wishFields.confidence)
    .meta({ description: "How sure the prediction must be to fit the budget" }),
  refuseWithinMs: z.coerce
    .number()
    .optional()
    .pipe(wishFields.refuseWithinMs)
    .meta({ description: "Milliseconds within which a refusal for want of room is early enough" }),
  minFidelity: z.coerce
    .number()
    .optional()
    .pipe(wishFields.minFidelity)
    .meta({ description: "Variants below this are not taken" }),
  priority: z.coerce
    .number()
    .optional()
    .pipe(wishFields.priority)
    .meta({ description: "Higher ones go first in a runner's queue" }),
  labels: z
    .string()
    .transform((text) => Object.fromEntries(text.split(",").map((pair) => pair.split(/=(.*)/s).slice(0, 2))))
    .pipe(Labels)
    .optional()
    .meta({ type: "string", description: "Only runners that have all of these labels, such as `site=lab,rack=2`" }),
  action: ActionChoice.default("argmax").meta({ description: "How outputs become an action" }),
  seed: z.coerce.number().pipe(Seed).optional().meta({ description: "Of sampled actions" }),
});
export type ActStreamQuery = z.infer<typeof ActStreamQuery>;

/** One observation of a stream; its answer has the same `seq`, which also numbers its draw. */
export const StreamedObservation = z.strictObject({
  seq: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  observation: Observation,
});

export type StreamedObservation = z.infer<typeof StreamedObservation>;

/** The answer to one observation, in the order in which answers come. */
export const StreamedAction = z.union([
  z.object({ seq: z.number().int(), action: Action, seed: Seed.optional(), totalMs: z.number() }),
  z.object({ seq: z.number().int().nullable(), problem: Problem }),
]);
export type StreamedAction = z.infer<typeof StreamedAction>;
