import { z } from "@hono/zod-openapi";
import { LIMITS } from "./limits.ts";
import type { DType } from "./tensor.ts";
import { Shape } from "./tensor.ts";

/**
 * The Open Inference Protocol, version 2, with Triton's binary tensors and statistics
 * (open-inference/open-inference-protocol, `specification/protocol/inference_rest.md`; Triton's
 * protocol extensions). Fields that are not known are ignored, as its clients expect.
 */

/** Its name of each of our element types. */
export const OIP_DATATYPES = {
  bool: "BOOL",
  uint8: "UINT8",
  uint16: "UINT16",
  uint32: "UINT32",
  uint64: "UINT64",
  int8: "INT8",
  int16: "INT16",
  int32: "INT32",
  int64: "INT64",
  float16: "FP16",
  float32: "FP32",
  float64: "FP64",
  string: "BYTES",
} as const satisfies Record<DType, string>;

const OipDatatype = z.enum(Object.values(OIP_DATATYPES)).openapi("OipDatatype");

/** Extensions that `GET /v2` names. */
export const OIP_EXTENSIONS = ["binary_tensor_data", "statistics"];

/** Length of the JSON in front of raw tensors. */
export const OIP_HEADER_LENGTH = "inference-header-content-length";

const Parameters = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

const OipInput = z.object({
  name: z.string().min(1).max(LIMITS.tensorNameLength),
  shape: Shape,
  datatype: OipDatatype,
  parameters: Parameters.optional(),
  data: z.array(z.any()).optional(),
});

const OipRequestedOutput = z.object({ name: z.string(), parameters: Parameters.optional() });

export const OipInferRequest = z
  .object({
    id: z.string().max(256).optional(),
    parameters: Parameters.optional(),
    inputs: z.array(OipInput).min(1).max(LIMITS.tensorsPerRequest),
    outputs: z.array(OipRequestedOutput).max(LIMITS.tensorsPerRequest).optional(),
  })
  .openapi("OipInferRequest");
export type OipInferRequest = z.infer<typeof OipInferRequest>;

const OipOutput = z.object({
  name: z.string(),
  datatype: OipDatatype,
  shape: Shape,
  parameters: Parameters.optional(),
  data: z.array(z.any()).optional(),
});

export const OipInferReply = z
  .object({
    model_name: z.string(),
    model_version: z.string(),
    id: z.string().optional(),
    parameters: Parameters.optional(),
    outputs: z.array(OipOutput),
  })
  .openapi("OipInferReply");
export type OipInferReply = z.infer<typeof OipInferReply>;

export const OipServer = z
  .object({ name: z.string(), version: z.string(), extensions: z.array(z.string()) })
  .openapi("OipServer");

const OipTensorSpec = z.object({ name: z.string(), datatype: OipDatatype, shape: z.array(z.number().int()) });

export const OipModel = z
  .object({
    name: z.string(),
    versions: z.array(z.string()),
    platform: z.string(),
    inputs: z.array(OipTensorSpec),
    outputs: z.array(OipTensorSpec),
  })
  .openapi("OipModel");

const OipDuration = z.object({ count: z.number().int(), ns: z.number().int() });

export const OipStats = z
  .object({
    model_stats: z.array(
      z.object({
        name: z.string(),
        version: z.string(),
        inference_count: z.number().int(),
        execution_count: z.number().int(),
        inference_stats: z.object({
          success: OipDuration,
          fail: OipDuration,
          queue: OipDuration,
          compute_input: OipDuration,
          compute_infer: OipDuration,
          compute_output: OipDuration,
        }),
      }),
    ),
  })
  .openapi("OipStats");
export type OipStats = z.infer<typeof OipStats>;

/** Every error under `/v2`. */
export const OipError = z.object({ error: z.string() }).openapi("OipError");
export type OipError = z.infer<typeof OipError>;

export const OipModelParams = z.object({
  model: z.string().min(1).max(128).openapi({ description: "Name or id of a model" }),
});
export const OipVersionParams = OipModelParams.extend({
  version: z
    .string()
    .regex(/^[1-9][0-9]{0,8}$/, "must be a version number")
    .openapi({ description: "Number of the version" }),
});
