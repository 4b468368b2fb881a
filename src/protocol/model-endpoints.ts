import { z } from "zod";
import { defineEndpoint } from "./endpoint.ts";
import { Job } from "./jobs/job.ts";
import { LIMITS } from "./wire/limits.ts";
import { CompressionRequest } from "./jobs/compression.ts";
import {
  Model,
  ModelPage,
  ModelReport,
  ModelUploadQuery,
  ModelVersion,
  Placement,
  VariantUploadQuery,
} from "./models/model.ts";
import { IdempotencyKey, PageQuery } from "./wire/page.ts";
import { PlacementRuleInput } from "./fleet/serving.ts";

const byModel = z.object({ model: z.string().min(1).max(128).meta({ description: "Name or id of a model" }) });
const byModelVersion = byModel.extend({
  version: z.coerce.number().int().min(1).meta({ description: "Number of the version" }),
});
const idempotencyKey = z.object({ "idempotency-key": IdempotencyKey });

export const modelEndpoints = {
  uploadModel: defineEndpoint({
    method: "post",
    path: "/v1/models",
    tag: "models",
    summary: "Upload an ONNX file as the next version of a model",
    description: "The same bytes again give the version that is there already, with status 200.",
    access: "submit",
    query: ModelUploadQuery,
    rawBody: { mediaTypes: ["application/octet-stream"], maxBytes: LIMITS.modelBytes },
    repeatable: "as-it-is",
    reply: { status: 201, schema: z.object({ model: Model, version: ModelVersion }).meta({ id: "UploadedModel" }) },
    problems: ["invalid-model", "payload-too-large", "unsupported-media-type"],
  }),
  checkModel: defineEndpoint({
    method: "post",
    path: "/v1/models/check",
    tag: "models",
    summary: "Say what an ONNX file is, and all that is wrong with it, without keeping it",
    access: "submit",
    rawBody: { mediaTypes: ["application/octet-stream"], maxBytes: LIMITS.modelBytes },
    repeatable: "as-it-is",
    reply: { status: 200, schema: ModelReport },
    problems: ["payload-too-large", "unsupported-media-type"],
  }),
  uploadVariant: defineEndpoint({
    method: "post",
    path: "/v1/models/{model}/versions/{version}/variants",
    tag: "models",
    summary: "Upload an ONNX file as another variant of a version: the same inputs and outputs by other arithmetic",
    description: "Runners measure it beside the version's own file; the same bytes under the same name change nothing.",
    access: "submit",
    params: byModelVersion,
    query: VariantUploadQuery,
    rawBody: { mediaTypes: ["application/octet-stream"], maxBytes: LIMITS.modelBytes },
    repeatable: "as-it-is",
    reply: { status: 201, schema: ModelVersion },
    problems: ["not-found", "conflict", "invalid-model", "payload-too-large", "unsupported-media-type"],
  }),
  putVersionData: defineEndpoint({
    method: "put",
    path: "/v1/models/{model}/versions/{version}/data",
    tag: "models",
    summary: "Give a version the samples that its variants are measured on: a safetensors file of inputs and answers",
    description: "The latest counts. What stands in the file is described in models/README.md.",
    access: "submit",
    params: byModelVersion,
    rawBody: { mediaTypes: ["application/octet-stream"], maxBytes: LIMITS.heldOutBytes },
    reply: { status: 200, schema: ModelVersion },
    problems: ["not-found", "conflict", "payload-too-large", "unsupported-media-type"],
  }),
  createVariant: defineEndpoint({
    method: "post",
    path: "/v1/models/{model}/variants",
    tag: "models",
    summary: "Queue a compression: a runner makes a smaller variant of a version and measures how good it is",
    description: "The same as `POST /v1/jobs` with the kind `compression`.",
    access: "submit",
    params: byModel,
    headers: idempotencyKey,
    body: CompressionRequest,
    repeatable: "by-key",
    reply: { status: 202, schema: Job },
    problems: ["not-found", "idempotency-key-reused", "queue-full"],
  }),
  listModels: defineEndpoint({
    method: "get",
    path: "/v1/models",
    tag: "models",
    summary: "List models with their versions",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: ModelPage },
  }),
  getModel: defineEndpoint({
    method: "get",
    path: "/v1/models/{model}",
    tag: "models",
    summary: "Describe a model, by name or id",
    access: "read",
    params: byModel,
    reply: { status: 200, schema: Model },
    problems: ["not-found"],
  }),
  setPlacement: defineEndpoint({
    method: "put",
    path: "/v1/models/{model}/placement",
    tag: "models",
    summary: "Say which runners measure and serve a model",
    description:
      "It counts at once: runners that it leaves out lose their placements, the others are given calibrations. `profile` is matched with what a runner says of itself when it connects.",
    access: "submit",
    params: byModel,
    body: PlacementRuleInput,
    reply: { status: 200, schema: Model },
    problems: ["not-found"],
  }),
  listPlacements: defineEndpoint({
    method: "get",
    path: "/v1/models/{model}/placements",
    tag: "models",
    summary: "Where a model runs, and what was measured there",
    access: "read",
    params: byModel,
    reply: { status: 200, schema: z.object({ items: z.array(Placement) }).meta({ id: "PlacementList" }) },
    problems: ["not-found"],
  }),
} as const;
