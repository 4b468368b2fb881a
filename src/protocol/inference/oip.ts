import type { LatencySplit, ServiceTimes } from "./inference.ts";
import { z } from "zod";
import { LIMITS } from "../wire/limits.ts";
import type { Problem } from "../wire/problem.ts";
import { type DType, JsonData, Shape } from "../wire/tensor.ts";

/**
 * The Open Inference Protocol, version 2, with Triton's extensions: binary tensors, statistics, model configuration and
 * model repository. Unknown fields are ignored, as its clients expect.
 * Source: open-inference/open-inference-protocol, `specification/protocol/inference_rest.md`; Triton's `docs/protocol`.
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

/** Extensions of a runner's listener; the edge has one more. */
export const OIP_DIRECT_EXTENSIONS = ["binary_tensor_data", "model_configuration", "statistics"];

/** Extensions that the edge's `GET /v2` names. */
export const OIP_EXTENSIONS = [...OIP_DIRECT_EXTENSIONS, "model_repository"];

/** An extension of Triton's that is absent here: the form of its paths, and the refusal. */
interface AbsentExtension {
  readonly path: RegExp;
  readonly status: 501 | 503;
  readonly error: string;
}

/**
 * Refusals of a Triton server that was built without these extensions.
 * Source: `src/http_server.cc` and `src/shared_memory_manager.cc` of Triton.
 * Its message names the operating system instead of millrace.
 */
const ABSENT_EXTENSIONS: readonly AbsentExtension[] = [
  {
    path: /^\/v2\/(system|cuda)sharedmemory(\/region\/[^/]+)?\/(status|register|unregister)$/,
    status: 501,
    error: "Shared memory feature is currently not supported on millrace",
  },
  { path: /^\/v2(\/models\/[^/]+)?\/trace\/setting$/, status: 503, error: "the server does not support tracing" },
  { path: /^\/v2\/logging$/, status: 503, error: "the server does not support dynamic logging" },
];

/** The refusal of a path of an absent extension; null for any other path. */
export function refuseExtension(path: string): Omit<AbsentExtension, "path"> | null {
  return ABSENT_EXTENSIONS.find((extension) => extension.path.test(path)) ?? null;
}

/** Length of the JSON in front of raw tensors. */
export const OIP_HEADER_LENGTH = "inference-header-content-length";

const Parameters = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

const OipInput = z.object({
  name: z.string().min(1).max(LIMITS.tensorNameLength),
  shape: Shape,
  datatype: OipDatatype,
  parameters: Parameters.optional(),
  data: JsonData.optional(),
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
  data: JsonData.optional(),
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
export type OipModel = z.infer<typeof OipModel>;

const OipDuration = z.object({ count: z.number().int(), ns: z.number().int() });

const OipConfigTensor = z.object({
  name: z.string(),
  data_type: z.string().meta({ description: "`TYPE_` and the datatype, such as `TYPE_FP32`" }),
  dims: z.array(z.number().int()).meta({ description: "Without the rows, where `max_batch_size` is not 0" }),
  reshape: z
    .object({ shape: z.array(z.number().int()) })
    .optional()
    .meta({ description: "Of a row without dimensions, which Triton cannot name otherwise" }),
});

/** A model's configuration, in the words of Triton's `ModelConfig`. */
export const OipConfig = z
  .object({
    name: z.string(),
    platform: z.string(),
    backend: z.string(),
    version_policy: z.object({ all: z.object({}) }),
    max_batch_size: z.number().int().meta({ description: "Rows of one batch at most; 0: it has no rows" }),
    input: z.array(OipConfigTensor),
    output: z.array(OipConfigTensor),
    instance_group: z.array(
      z.object({
        name: z.string().meta({ description: "Id of the placement" }),
        kind: z.enum(["KIND_CPU", "KIND_GPU"]),
        count: z.number().int(),
      }),
    ),
    dynamic_batching: z
      .object({ max_queue_delay_microseconds: z.number().int() })
      .optional()
      .meta({ description: "Of a model with rows: requests that wait at the same time are joined" }),
    model_transaction_policy: z.object({ decoupled: z.boolean() }),
    parameters: z.record(z.string(), z.object({ string_value: z.string() })),
  })
  .meta({ id: "OipConfig" });
export type OipConfig = z.infer<typeof OipConfig>;

/** Request of the repository's index. */
export const OipIndexRequest = z.object({ ready: z.boolean().default(false) }).meta({ id: "OipIndexRequest" });

export const OipIndex = z
  .array(
    z.object({
      name: z.string(),
      version: z.string(),
      state: z.enum(["READY", "UNAVAILABLE"]),
      reason: z.string().meta({ description: "Why it is unavailable; empty of a ready one" }),
    }),
  )
  .meta({ id: "OipIndex" });
export type OipIndex = z.infer<typeof OipIndex>;

/** Request to load or unload a model. */
export const OipControlRequest = z.object({ parameters: Parameters.optional() }).meta({ id: "OipControlRequest" });

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
          cache_hit: OipDuration.meta({ description: "0, as there is no cache of responses" }),
          cache_miss: OipDuration.meta({ description: "0, as there is no cache of responses" }),
        }),
      }),
    ),
  })
  .meta({ id: "OipStats" });
export type OipStats = z.infer<typeof OipStats>;

/** Every error under `/v2`. */
export const OipError = z.object({ error: z.string() }).meta({ id: "OipError" });
export type OipError = z.infer<typeof OipError>;

/** Statuses that have the same meaning under `/v2`. */
const KEPT = new Set([401, 403, 405, 413, 415, 500]);

/** Bad input and unknown models become 400; problems that may pass and exceeded budgets become 503. */
export function oipStatus({ code, status }: Pick<Problem, "code" | "status">): number {
  const isBusy = status === 429 || status > 500 || code === "budget-unattainable";
  if (KEPT.has(status)) return status;
  return isBusy ? 503 : 400;
}

/** Latency of an answer as parameters of its reply, in milliseconds; a direct one passes neither edge nor link. */
export function latencyParameters(
  latency: ServiceTimes & Pick<LatencySplit, "totalMs"> & Partial<Pick<LatencySplit, "edgeMs" | "linkMs">>,
): Record<string, number> {
  const { totalMs, edgeMs, linkMs, queueMs, uploadMs, computeMs, readbackMs } = latency;
  return {
    total_ms: totalMs,
    ...(edgeMs !== undefined && { edge_ms: edgeMs }),
    ...(linkMs !== undefined && { link_ms: linkMs }),
    queue_ms: queueMs,
    upload_ms: uploadMs,
    compute_ms: computeMs,
    readback_ms: readbackMs,
  };
}
