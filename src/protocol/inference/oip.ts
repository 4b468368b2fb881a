import { z } from "zod";
import { defineEndpoint, type Endpoint } from "../endpoint.ts";
import { LIMITS } from "../wire/limits.ts";
import { type DType, Shape } from "../wire/tensor.ts";
import { INFERENCE_PROBLEMS } from "./inference.ts";

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

const OipDatatype = z.enum(Object.values(OIP_DATATYPES)).meta({ id: "OipDatatype" });

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
  .meta({ id: "OipInferRequest" });
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
  .meta({ id: "OipInferReply" });
export type OipInferReply = z.infer<typeof OipInferReply>;

export const OipServer = z
  .object({ name: z.string(), version: z.string(), extensions: z.array(z.string()) })
  .meta({ id: "OipServer" });

const OipTensorSpec = z.object({ name: z.string(), datatype: OipDatatype, shape: z.array(z.number().int()) });

export const OipModel = z
  .object({
    name: z.string(),
    versions: z.array(z.string()),
    platform: z.string(),
    inputs: z.array(OipTensorSpec),
    outputs: z.array(OipTensorSpec),
  })
  .meta({ id: "OipModel" });

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
  .meta({ id: "OipStats" });
export type OipStats = z.infer<typeof OipStats>;

/** Every error under `/v2`. */
export const OipError = z.object({ error: z.string() }).meta({ id: "OipError" });
export type OipError = z.infer<typeof OipError>;

const OipModelParams = z.object({
  model: z.string().min(1).max(128).meta({ description: "Name or id of a model" }),
});
const OipVersionParams = OipModelParams.extend({
  version: z
    .string()
    .regex(/^[1-9][0-9]{0,8}$/, "must be a version number")
    .meta({ description: "Number of the version" }),
});

const OF_MODEL = { path: "/v2/models/{model}", params: OipModelParams } as const;
const OF_VERSION = { path: "/v2/models/{model}/versions/{version}", params: OipVersionParams } as const;

/** A model or one version of it. */
interface Subject<Params> {
  readonly path: `/${string}`;
  readonly params: z.ZodType<Params>;
}

/** A reply that says all in its status. */
const status: Endpoint["reply"] = { status: 200, mediaType: "text/plain" };
const get = { method: "get", tag: "open inference protocol" } as const;

function metadata<Params>({ path, params }: Subject<Params>) {
  const summary = "Versions, inputs and outputs; a free dimension is -1";
  return defineEndpoint({ ...get, path, params, summary, access: "infer", reply: { status: 200, schema: OipModel } });
}

function readiness<Params>({ path, params }: Subject<Params>) {
  const summary = "Whether a runner that is online serves the model: 200, or 400";
  return defineEndpoint({ ...get, path: `${path}/ready`, params, summary, access: "infer", reply: status });
}

function statistics<Params>({ path, params }: Subject<Params>) {
  const summary = "Counts and times of the requests so far, as Triton's statistics extension has them";
  const reply = { status: 200, schema: OipStats } as const;
  return defineEndpoint({ ...get, path: `${path}/stats`, params, summary, access: "infer", reply });
}

function inference<Params>({ path, params }: Subject<Params>) {
  return defineEndpoint({
    method: "post",
    path: `${path}/infer`,
    tag: "open inference protocol",
    summary: "Run a model; `parameters.timeout` (µs) or `parameters.budget_ms` is the budget",
    description:
      "Tensors are JSON, or raw bytes behind it with `Inference-Header-Content-Length`. The body may be gzip or deflate.",
    access: "infer",
    params,
    body: OipInferRequest,
    rawBody: { mediaTypes: ["application/json", "application/octet-stream"], maxBytes: LIMITS.inferBodyBytes },
    reply: { status: 200, schema: OipInferReply },
    problems: INFERENCE_PROBLEMS,
  });
}

/** Routes of the Open Inference Protocol. Their errors are `{"error": text}`. */
export const oipEndpoints = {
  oipLive: defineEndpoint({
    ...get,
    path: "/v2/health/live",
    summary: "Whether the edge answers",
    access: "public",
    reply: status,
  }),
  oipReady: defineEndpoint({
    ...get,
    path: "/v2/health/ready",
    summary: "Whether the edge can serve: 200, or 503",
    access: "public",
    reply: status,
  }),
  oipServer: defineEndpoint({
    ...get,
    path: "/v2",
    summary: "Name, version and extensions of the server",
    access: "public",
    reply: { status: 200, schema: OipServer },
  }),
  oipModel: metadata(OF_MODEL),
  oipModelVersion: metadata(OF_VERSION),
  oipModelReady: readiness(OF_MODEL),
  oipModelVersionReady: readiness(OF_VERSION),
  oipModelStats: statistics(OF_MODEL),
  oipModelVersionStats: statistics(OF_VERSION),
  oipInfer: inference(OF_MODEL),
  oipVersionInfer: inference(OF_VERSION),
} as const;
