import { z } from "@hono/zod-openapi";
import { InferReplyHeader, wishFields } from "./inference.ts";
import { idSchema } from "./id.ts";
import { LIMITS } from "./limits.ts";
import { Problem } from "./problem.ts";

/** How outputs become an action: the index of the largest, one drawn from their softmax, or all of them. */
export const ActionChoice = z.enum(["argmax", "sample", "raw"]).openapi("ActionChoice");
export type ActionChoice = z.infer<typeof ActionChoice>;

const Seed = z
  .number()
  .int()
  .min(0)
  .max(2 ** 32 - 1);

const Observation = z.array(z.number()).min(1).max(LIMITS.observationElements).openapi({
  description: "Numbers of one observation, row-major",
});

/** Asks a policy what to do: in one situation, or in many at once. */
export const ActRequest = z
  .strictObject({
    observation: Observation.optional(),
    observations: z.array(Observation).min(1).max(LIMITS.observations).optional(),
    ...wishFields,
    action: ActionChoice.default("argmax"),
    seed: Seed.default(0).openapi({ description: "Of sampled actions; the n-th observation has the n-th draw" }),
  })
  .refine((request) => (request.observation === undefined) !== (request.observations === undefined), {
    path: ["observation"],
    message: "must be given, or observations, and not both",
  })
  .openapi("ActRequest");
export type ActRequest = z.infer<typeof ActRequest>;

/** An index, or all outputs. */
const Action = z.union([z.number(), z.array(z.number())]);

/** The action for an `observation`, or the `actions` for `observations` in their order. */
export const ActReply = z
  .object({
    ...InferReplyHeader.omit({ tensors: true }).shape,
    action: Action.optional(),
    actions: z.array(Action).optional(),
  })
  .openapi("ActReply");
export type ActReply = z.infer<typeof ActReply>;

/** What holds for every message of a stream. */
export const ActStreamQuery = z.object({
  budgetMs: z.coerce.number().min(LIMITS.minBudgetMs).max(LIMITS.maxBudgetMs),
  action: ActionChoice.default("argmax"),
  seed: z.coerce.number().pipe(Seed).default(0),
  runnerId: idSchema("runner").optional(),
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
  z.object({ seq: z.number().int(), action: Action, totalMs: z.number() }),
  z.object({ seq: z.number().int().nullable(), problem: Problem }),
]);
export type StreamedAction = z.infer<typeof StreamedAction>;
