import { z } from "zod";
import { Backend } from "../fleet/hardware.ts";
import { faultFields } from "../wire/fault.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Labels, Name } from "../wire/page.ts";
import { JsonTensor, JsonTensorInput, TensorHeader } from "../wire/tensor.ts";

/** Problems of choosing a placement, then those of its answer. */
export const ADMISSION_PROBLEMS = [
  "not-found",
  "budget-unattainable",
  "no-placement",
  "runner-offline",
  "overloaded",
  "runner-lost",
] as const;

/** The same, and what may go wrong behind it. */
export const INFERENCE_PROBLEMS = [
  ...ADMISSION_PROBLEMS,
  "budget-exceeded",
  "device-lost",
  "out-of-memory",
  "backend-failed",
  "model-quarantined",
] as const;

/** Request fields of every inference, in any format. */
export const wishFields = {
  budgetMs: z
    .number()
    .min(LIMITS.minBudgetMs)
    .max(LIMITS.maxBudgetMs)
    .meta({ description: "Milliseconds from the arrival at the edge to the reply" }),
  confidence: z.number().min(0.5).max(0.999).default(0.99).meta({
    description: "How sure the prediction must be to fit the budget",
  }),
  refuseWithinMs: z.number().min(0).max(LIMITS.maxBudgetMs).default(0).meta({
    description: "Milliseconds from the arrival within which a refusal for want of room is early enough",
  }),
  minFidelity: z.number().min(0).max(1).default(0).meta({
    description: "Variants below this are not taken, where the model's own file has 1",
  }),
  priority: z.number().int().min(0).max(LIMITS.maxPriority).default(0).meta({
    description: "Higher ones go first in a runner's queue",
  }),
  onMiss: z.enum(["reject", "best-effort"]).default("reject").meta({
    description:
      "`best-effort`: where nothing is predicted to fit, the fastest placement tries, and the budget still ends the wait",
  }),
  backend: Backend.optional().meta({ description: "Only what this executes" }),
  profile: Name.optional().meta({ description: "Only devices that fit this hardware profile" }),
  labels: Labels.optional().meta({ description: "Only runners that have all of these labels" }),
  runnerId: idSchema("runner").optional().meta({ description: "Only this runner" }),
  placementId: idSchema("placement").optional().meta({ description: "Only this placement" }),
};
export const InferWishes = z.object(wishFields);
export type InferWishes = z.infer<typeof InferWishes>;

const requestFields = {
  model: z.string().min(1).max(128).meta({ description: "Name or id of a model; `name@2` names a version" }),
  ...wishFields,
};

/** An inference request as JSON. */
export const InferRequest = z
  .strictObject({
    ...requestFields,
    inputs: z
      .record(z.string(), JsonTensorInput)
      .refine(
        (inputs) => Object.keys(inputs).length <= LIMITS.tensorsPerRequest,
        `at most ${LIMITS.tensorsPerRequest} inputs`,
      ),
  })
  .meta({ id: "InferRequest" });
export type InferRequest = z.infer<typeof InferRequest>;

/** Media type of the binary form: one frame whose header is `InferFrameHeader`. */
export const FRAME_MEDIA_TYPE = "application/vnd.millrace.frame";

export const InferFrameHeader = z.strictObject({
  ...requestFields,
  tensors: z.array(TensorHeader).min(1).max(LIMITS.tensorsPerRequest),
});
export type InferFrameHeader = z.infer<typeof InferFrameHeader>;

/** The same as a runner sends it under load: for one placement of its own. */
export const LinkInferHeader = InferFrameHeader.extend({ placementId: idSchema("placement") });
export type LinkInferHeader = z.infer<typeof LinkInferHeader>;

/** Parts of a service as the runner measured them on its monotonic clock, in milliseconds. */
export const ServiceTimes = z.object({
  queueMs: z.number().min(0),
  uploadMs: z.number().min(0),
  computeMs: z.number().min(0),
  readbackMs: z.number().min(0),
});
export type ServiceTimes = z.infer<typeof ServiceTimes>;

/**
 * Split of the latency. `edgeMs` and `linkMs` use the edge's clock, which is coarse (1 ms) and advances only across
 * I/O; the others use the runner's. `totalMs` runs from arrival to reply.
 */
export const LatencySplit = ServiceTimes.extend({
  totalMs: z.number().min(0),
  edgeMs: z.number().min(0),
  linkMs: z.number().min(0),
}).meta({ id: "LatencySplit" });
export type LatencySplit = z.infer<typeof LatencySplit>;

const replyFields = {
  requestId: idSchema("request"),
  model: z.string(),
  version: z.number().int(),
  placement: z.object({
    id: idSchema("placement"),
    runnerId: idSchema("runner"),
    deviceKey: z.string(),
    software: z.boolean(),
    variant: z.string(),
    backend: Backend,
    batch: z.number().int().meta({ description: "Rows of the batch that it was computed in" }),
    fidelity: z.number(),
  }),
  latency: LatencySplit,
  prediction: z
    .object({
      confidence: z.number(),
      latencyMs: z.number(),
      linkMs: z.number(),
      queueMs: z.number(),
      serviceMs: z.number(),
    })
    .meta({
      description: "What `latencyMs` is made of: the way there and back, what has to be done before, the service",
    }),
  budgetMs: z.number(),
  budgetMet: z.boolean(),
  passedOver: z
    .object({
      placementId: idSchema("placement"),
      variant: z.string(),
      fidelity: z.number(),
      latencyMs: z.number().meta({ description: "Predicted, as for the placement that was chosen" }),
    })
    .optional()
    .meta({
      description:
        "Why it was no better variant: the fastest placement of a higher fidelity, which is predicted to exceed the budget; absent where none is",
    }),
  ...faultFields,
};

export const InferReply = z
  .object({ ...replyFields, outputs: z.record(z.string(), JsonTensor) })
  .meta({ id: "InferReply" });
export type InferReply = z.infer<typeof InferReply>;

/** Header of the reply in the binary form. */
export const InferReplyHeader = z.object({ ...replyFields, tensors: z.array(TensorHeader) });
export type InferReplyHeader = z.infer<typeof InferReplyHeader>;
