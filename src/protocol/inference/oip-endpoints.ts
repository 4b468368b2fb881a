import { z } from "zod";
import { defineEndpoint, type Endpoint } from "../endpoint.ts";
import { LIMITS } from "../wire/limits.ts";
import { INFERENCE_PROBLEMS } from "./inference.ts";
import {
  OipConfig,
  OipControlRequest,
  OipIndex,
  OipIndexRequest,
  OipInferReply,
  OipInferRequest,
  OipModel,
  OipServer,
  OipStats,
} from "./oip.ts";

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
const post = { method: "post", tag: "open inference protocol" } as const;

/** A small JSON body that Triton's clients send without a media type, or leave out. */
const SMALL_JSON = { mediaTypes: ["application/octet-stream"], maxBytes: LIMITS.oipControlBytes };

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

function configuration<Params>({ path, params }: Subject<Params>) {
  const summary = "Configuration in the words of Triton's `ModelConfig`";
  const reply = { status: 200, schema: OipConfig } as const;
  return defineEndpoint({ ...get, path: `${path}/config`, params, summary, access: "infer", reply });
}

function control(action: "load" | "unload", summary: string) {
  return defineEndpoint({
    ...post,
    path: `/v2/repository/models/{model}/${action}`,
    params: OipModelParams,
    summary,
    access: "submit",
    asksQueue: true,
    body: OipControlRequest,
    rawBody: SMALL_JSON,
    repeatable: "as-it-is",
    reply: status,
  });
}

function inference<Params>({ path, params }: Subject<Params>) {
  return defineEndpoint({
    ...post,
    path: `${path}/infer`,
    summary:
      "Run a model; `parameters.timeout` (µs) or `parameters.budget_ms` is the budget, `parameters.confidence` its confidence",
    description:
      "Tensors are JSON, or raw bytes behind it with `Inference-Header-Content-Length`. The body may be gzip or deflate.",
    access: "infer",
    params,
    body: OipInferRequest,
    rawBody: { mediaTypes: ["application/json", "application/octet-stream"], maxBytes: LIMITS.inferBodyBytes },
    reply: { status: 200, schema: OipInferReply, alsoAs: ["application/octet-stream"] },
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
    problems: ["overloaded"],
  }),
  oipServer: defineEndpoint({
    ...get,
    path: "/v2",
    summary: "Name, version and extensions of the server",
    access: "public",
    reply: { status: 200, schema: OipServer },
  }),
  oipAllStats: defineEndpoint({
    ...get,
    path: "/v2/models/stats",
    summary: "Statistics of all versions of all models",
    access: "infer",
    reply: { status: 200, schema: OipStats },
  }),
  oipIndex: defineEndpoint({
    ...post,
    path: "/v2/repository/index",
    summary: "Every version of every model and whether it is ready; with `ready`, only those that are",
    access: "infer",
    body: OipIndexRequest,
    rawBody: SMALL_JSON,
    repeatable: "as-it-is",
    reply: { status: 200, schema: OipIndex },
  }),
  oipLoad: control("load", "Lift an unload: runners measure and serve the model again"),
  oipUnload: control("unload", "Take the model from all runners, until it is loaded"),
  oipModel: metadata(OF_MODEL),
  oipModelVersion: metadata(OF_VERSION),
  oipModelReady: readiness(OF_MODEL),
  oipModelVersionReady: readiness(OF_VERSION),
  oipModelStats: statistics(OF_MODEL),
  oipModelVersionStats: statistics(OF_VERSION),
  oipModelConfig: configuration(OF_MODEL),
  oipModelVersionConfig: configuration(OF_VERSION),
  oipInfer: inference(OF_MODEL),
  oipVersionInfer: inference(OF_VERSION),
} as const;
