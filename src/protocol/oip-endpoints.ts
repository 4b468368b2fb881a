import type { z } from "@hono/zod-openapi";
import { defineEndpoint, type Endpoint } from "./endpoint.ts";
import { INFERENCE_PROBLEMS } from "./inference-problems.ts";
import { LIMITS } from "./limits.ts";
import {
  OipInferReply,
  OipInferRequest,
  OipModel,
  OipModelParams,
  OipServer,
  OipStats,
  OipVersionParams,
} from "./oip.ts";

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
