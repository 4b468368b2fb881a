import { z } from "@hono/zod-openapi";
import { defineEndpoint } from "./endpoint.ts";
import { FRAME_MEDIA_TYPE } from "./inference.ts";
import { LIMITS } from "./limits.ts";
import { IfMatch, Name, PageQuery } from "./page.ts";
import { RequirementSet, RequirementSetInput, RequirementSetPage, RequirementSetUpdate } from "./requirement.ts";

const byName = z.object({ name: Name.openapi({ description: "Name of a requirement set" }) });
const ifMatch = z.object({ "if-match": IfMatch });

/** What validations are judged by, and how a runner sends load through the edge. */
export const validationEndpoints = {
  createRequirements: defineEndpoint({
    method: "post",
    path: "/v1/requirements",
    tag: "validation",
    summary: "Create a requirement set: requirements under a name, for validations to be judged by",
    access: "submit",
    body: RequirementSetInput,
    reply: { status: 201, schema: RequirementSet },
    problems: ["conflict"],
  }),
  listRequirements: defineEndpoint({
    method: "get",
    path: "/v1/requirements",
    tag: "validation",
    summary: "List requirement sets by name",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: RequirementSetPage },
  }),
  getRequirements: defineEndpoint({
    method: "get",
    path: "/v1/requirements/{name}",
    tag: "validation",
    summary: "Describe a requirement set",
    access: "read",
    params: byName,
    reply: { status: 200, schema: RequirementSet },
    problems: ["not-found"],
  }),
  updateRequirements: defineEndpoint({
    method: "put",
    path: "/v1/requirements/{name}",
    tag: "validation",
    summary: "Replace a requirement set; wants If-Match with its ETag",
    description: "Jobs that were submitted by its name before keep the requirements that it had then.",
    access: "submit",
    params: byName,
    headers: ifMatch,
    body: RequirementSetUpdate,
    reply: { status: 200, schema: RequirementSet },
    problems: ["not-found", "precondition-failed", "precondition-required"],
  }),
  deleteRequirements: defineEndpoint({
    method: "delete",
    path: "/v1/requirements/{name}",
    tag: "validation",
    summary: "Delete a requirement set",
    access: "submit",
    params: byName,
    reply: { status: 204 },
    problems: ["not-found"],
  }),

  linkInfer: defineEndpoint({
    method: "post",
    path: "/v1/link/infer",
    tag: "validation",
    summary: "Run a model on one placement of the runner that asks, which measures the whole way by it",
    description:
      "Admitted and answered as `POST /v1/infer` is, by a frame with `placementId`; the history keeps nothing of it.",
    access: "runner",
    isFrequent: true,
    rawBody: { mediaTypes: [FRAME_MEDIA_TYPE], maxBytes: LIMITS.inferBodyBytes },
    reply: { status: 200, mediaType: FRAME_MEDIA_TYPE },
    problems: [
      "invalid-request",
      "payload-too-large",
      "unsupported-media-type",
      "not-found",
      "budget-unattainable",
      "no-placement",
      "runner-offline",
      "overloaded",
      "runner-lost",
      "budget-exceeded",
      "device-lost",
      "backend-failed",
    ],
  }),
};
