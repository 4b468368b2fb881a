import { z } from "zod";
import { DeviceKey } from "../fleet/hardware.ts";
import { Digest, idSchema } from "../wire/id.ts";
import { LatencySplit, ServiceTimes } from "./inference.ts";
import { LIMITS } from "../wire/limits.ts";
import { Labels, Name } from "../wire/page.ts";
import { JsonTensor, JsonTensorInput, TensorHeader } from "../wire/tensor.ts";

/** Request fields of every compute service. */
export const computeWishes = {
  budgetMs: z.number().min(LIMITS.minBudgetMs).max(LIMITS.maxBudgetMs).default(1_000),
  runnerId: idSchema("runner").optional(),
  labels: Labels.optional().meta({ description: "Only runners that have all of these labels" }),
};

/** Inputs of a service as JSON, by name. */
export const JsonInputs = z
  .record(z.string(), JsonTensorInput)
  .refine(
    (inputs) => Object.keys(inputs).length <= LIMITS.tensorsPerRequest,
    `at most ${LIMITS.tensorsPerRequest} inputs`,
  );

/** Place of a computation, and its time split. */
const computedFields = {
  requestId: idSchema("request"),
  runnerId: idSchema("runner"),
  deviceKey: DeviceKey,
  software: z.boolean(),
  kernel: Name,
  variant: Name,
  latency: LatencySplit,
  budgetMs: z.number(),
};
export const ComputeReply = z
  .object({ ...computedFields, outputs: z.record(z.string(), JsonTensor) })
  .meta({ id: "ComputeReply" });
export type ComputeReply = z.infer<typeof ComputeReply>;

/** Header of the reply in the binary form. */
export const ComputeReplyHeader = z.object({ ...computedFields, tensors: z.array(TensorHeader) });
export type ComputeReplyHeader = z.infer<typeof ComputeReplyHeader>;

/** An input of a kernel that the runner fetches as an artifact and keeps on its device: rows padded as the binding is. */
const ResidentInput = z.object({ binding: Name, digest: Digest });

/** Header of the frame that asks a runner to compute a kernel of its own on the inputs that follow. */
export const ComputeOffer = z.object({
  type: z.literal("compute"),
  requestId: idSchema("request"),
  kernel: Name,
  shape: z.record(z.string(), z.number().int().min(1)),
  /** Seed of inputs that are neither sent nor resident: the kernel generates them. */
  seed: z.number().int(),
  resident: z.array(ResidentInput).max(1),
  tensors: z.array(TensorHeader).max(LIMITS.tensorsPerRequest),
});
export type ComputeOffer = z.infer<typeof ComputeOffer>;

/** Header of the frame that answers it, with the kernel's outputs. */
export const ComputeResult = z.object({
  type: z.literal("computeResult"),
  requestId: idSchema("request"),
  deviceKey: DeviceKey,
  software: z.boolean(),
  variant: Name,
  times: ServiceTimes,
  tensors: z.array(TensorHeader).max(LIMITS.tensorsPerRequest),
});
export type ComputeResult = z.infer<typeof ComputeResult>;
