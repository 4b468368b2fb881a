import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { PlacementRuleInput, ServingConfigurationInput } from "../fleet/serving.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { PageQuery } from "../wire/page.ts";
import {
  LatestCalibration,
  Model,
  ModelPage,
  ModelReport,
  ModelUploadQuery,
  ModelVersion,
  Placement,
  VariantUploadQuery,
} from "./model.ts";
import { FILE_MEDIA_TYPE, ModelFilesInput } from "./upload.ts";

const byModel = z.object({ model: z.string().min(1).max(128).meta({ description: "Name or id of a model" }) });
const PlacementList = z
  .object({
    items: z.array(Placement),
    calibrations: z.array(LatestCalibration).default([]).meta({
      description: "The latest of each version and runner, newest first: what waits, and what could not be measured",
    }),
  })
  .meta({ id: "PlacementList" });
const byModelVersion = byModel.extend({
  version: z.coerce.number().int().min(1).meta({ description: "Number of the version" }),
});

const UploadedModel = z.object({ model: Model, version: ModelVersion }).meta({ id: "UploadedModel" });
export type UploadedModel = z.infer<typeof UploadedModel>;

export const modelEndpoints = {
  uploadModel: defineEndpoint({
    method: "post",
    path: "/v1/models",
    tag: "models",
    summary: "Upload an ONNX file as the next version of a model",
    description:
      "The same bytes again give the version that is there already, with status 200. A larger file, or one with weights in other files, is uploaded first (`POST /v1/uploads`).",
    access: "submit",
    asksQueue: true,
    query: ModelUploadQuery,
    rawBody: { mediaTypes: [FILE_MEDIA_TYPE], maxBytes: LIMITS.modelBytes },
    repeatable: "as-it-is",
    reply: { status: 201, schema: UploadedModel },
    problems: ["invalid-model", "quota-exceeded", "overloaded"],
  }),
  uploadModelFiles: defineEndpoint({
    method: "post",
    path: "/v1/models/files",
    tag: "models",
    summary: "Make uploaded files the next version of a model",
    description: "The same files again give the version that is there already, with status 200.",
    access: "submit",
    asksQueue: true,
    query: ModelUploadQuery,
    body: ModelFilesInput,
    repeatable: "as-it-is",
    reply: { status: 201, schema: UploadedModel },
    problems: ["invalid-model", "quota-exceeded", "overloaded"],
  }),
  checkModel: defineEndpoint({
    method: "post",
    path: "/v1/models/check",
    tag: "models",
    summary: "Say what an ONNX file is, and all that is wrong with it, without keeping it",
    access: "submit",
    rawBody: { mediaTypes: [FILE_MEDIA_TYPE], maxBytes: LIMITS.modelBytes },
    repeatable: "as-it-is",
    reply: { status: 200, schema: ModelReport },
    problems: ["overloaded"],
  }),
  uploadVariant: defineEndpoint({
    method: "post",
    path: "/v1/models/{model}/versions/{version}/variants",
    tag: "models",
    summary: "Upload an ONNX file as another variant of a version: the same inputs and outputs by other arithmetic",
    description: "Runners measure it beside the version's own file; the same bytes under the same name change nothing.",
    access: "submit",
    asksQueue: true,
    params: byModelVersion,
    query: VariantUploadQuery,
    rawBody: { mediaTypes: [FILE_MEDIA_TYPE], maxBytes: LIMITS.modelBytes },
    repeatable: "as-it-is",
    reply: { status: 201, schema: ModelVersion },
    problems: ["not-found", "conflict", "invalid-model", "quota-exceeded", "overloaded"],
  }),
  putVersionData: defineEndpoint({
    method: "put",
    path: "/v1/models/{model}/versions/{version}/data",
    tag: "models",
    summary: "Give a version the samples that its variants are measured on: a safetensors file of inputs and answers",
    description: "The latest counts. What stands in the file is described in models/README.md.",
    access: "submit",
    asksQueue: true,
    params: byModelVersion,
    rawBody: { mediaTypes: [FILE_MEDIA_TYPE], maxBytes: LIMITS.heldOutBytes },
    reply: { status: 200, schema: ModelVersion },
    problems: ["not-found", "conflict", "quota-exceeded"],
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
    asksQueue: true,
    params: byModel,
    body: PlacementRuleInput,
    reply: { status: 200, schema: Model },
    problems: ["not-found"],
  }),
  listPlacements: defineEndpoint({
    method: "get",
    path: "/v1/models/{model}/placements",
    tag: "models",
    summary: "Where a model runs, what was measured there, and what could not be",
    access: "read",
    asksQueue: true,
    params: byModel,
    reply: { status: 200, schema: PlacementList },
    problems: ["not-found"],
  }),
} as const;

const byPlacementId = z.object({ id: idSchema("placement") });

/** One placement, and how it is served. */
export const placementEndpoints = {
  getPlacement: defineEndpoint({
    method: "get",
    path: "/v1/placements/{id}",
    tag: "models",
    summary: "Describe a placement",
    access: "read",
    params: byPlacementId,
    reply: { status: 200, schema: Placement },
    problems: ["not-found"],
  }),
  configurePlacement: defineEndpoint({
    method: "put",
    path: "/v1/placements/{id}/configuration",
    tag: "models",
    summary: "Say how a placement is served",
    description:
      "It is stored and told to the runner, which serves by it once the model is loaded so. `Location` names the calibration that measures it anew; until then predictions are of what was measured before.",
    access: "submit",
    asksQueue: true,
    params: byPlacementId,
    body: ServingConfigurationInput,
    reply: { status: 202, schema: Placement },
    problems: ["not-found", "conflict", "queue-full"],
  }),
};
