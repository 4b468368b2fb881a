import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { Backend, DeviceKey } from "../fleet/hardware.ts";
import { ServingConfiguration, ServingConfigurationInput } from "../fleet/serving.ts";
import { FRAME_MEDIA_TYPE, INFERENCE_PROBLEMS } from "../inference/inference.ts";
import {
  Requirement,
  RequirementSet,
  RequirementSetInput,
  RequirementSetPage,
  RequirementSetUpdate,
  RequirementsInput,
  Verdict,
} from "../models/requirement.ts";
import { LoadPath, Scenario, ScenarioInput, ScenarioResult } from "../models/scenario.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { IfMatch, Name, PageQuery } from "../wire/page.ts";
import { deviceFields, Environment, JobSubject, JobSubjectInput, targetFields } from "./job-fields.ts";

const byName = z.object({ name: Name.meta({ description: "Name of a requirement set" }) });
const ifMatch = z.object({ "if-match": IfMatch });

/** Requirement sets of validations, and the load that a runner sends through the edge. */
export const validationEndpoints = {
  createRequirements: defineEndpoint({
    method: "post",
    path: "/v1/requirements",
    tag: "validation",
    summary: "Create a requirement set: requirements under a name, for validations to be judged by",
    access: "submit",
    body: RequirementSetInput,
    reply: { status: 201, schema: RequirementSet },
    problems: ["conflict", "quota-exceeded"],
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
    problems: INFERENCE_PROBLEMS,
  }),
};

const paths = z.array(LoadPath).min(1).max(2).default(["runner"]);
const sharedFields = {
  kind: z.literal("validation"),
  paths,
  seed: z
    .number()
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(1),
  timeoutMs: z.number().int().min(1_000).max(LIMITS.validationMs).default(300_000),
  ...targetFields,
  ...deviceFields,
};

/** Validates a model or kernel under the field's own load scenarios, and judges it by requirements. */
export const ValidationInput = z.strictObject({
  ...sharedFields,
  subject: JobSubjectInput,
  scenarios: z.array(ScenarioInput).min(1).max(LIMITS.validationScenarios),
  requirements: z
    .union([Name, RequirementsInput])
    .default([])
    .meta({ description: "A list, or the name of a requirement set" }),
  configuration: ServingConfigurationInput.optional().meta({ description: "Absent: as the placement is served" }),
});

/** The same as the queue keeps it: what was named is filled in by the edge. */
export const ValidationSpec = z
  .object({
    ...sharedFields,
    subject: JobSubject,
    scenarios: z.array(Scenario).min(1).max(LIMITS.validationScenarios),
    requirements: z.array(Requirement).max(LIMITS.requirements),
    configuration: ServingConfiguration.optional(),
    requirementSet: Name.optional().meta({ description: "The set that the requirements are of" }),
    modelVersionId: idSchema("modelVersion").optional().meta({ description: "Of a model" }),
    placementId: idSchema("placement").optional().meta({ description: "Of a model: the one that is validated" }),
    fidelity: z.number().nullable().optional().meta({ description: "Of that placement" }),
  })
  .meta({ id: "ValidationSpec" });
export type ValidationSpec = z.infer<typeof ValidationSpec>;

/** Subject of a validation: a variant on a device by a backend under a configuration. */
export const ValidatedPlace = z
  .object({
    deviceKey: DeviceKey,
    backend: Backend,
    variant: Name,
    placementId: idSchema("placement").nullable(),
    configuration: ServingConfiguration.nullable(),
  })
  .meta({ id: "ValidatedPlace" });
export type ValidatedPlace = z.infer<typeof ValidatedPlace>;

export const ValidationResult = z
  .object({
    kind: z.literal("validation"),
    subject: JobSubject,
    modelVersionId: idSchema("modelVersion").nullable(),
    place: ValidatedPlace,
    scenarios: z.array(ScenarioResult).max(2 * LIMITS.validationScenarios),
    startup: z
      .object({ loadMs: z.number(), firstAnswerMs: z.number() })
      .meta({ description: "From nothing loaded to loaded, and from there to the first answer" }),
    memory: z.object({
      hostPeakBytes: z.number().nullable().meta({ description: "Resident set of the device's process, at its peak" }),
      hostGrownBytes: z.number().nullable().meta({ description: "By which it grew under the load" }),
      gpuPeakBytes: z.number().nullable().meta({ description: "Buffers of ours on the device; null where unknown" }),
    }),
    artifactBytes: z.number().nullable(),
    fidelity: z.number().nullable(),
    verdict: z.enum(["pass", "fail", "insufficient"]).meta({
      description: "`fail` where any requirement failed, else `insufficient` where any could not be told",
    }),
    verdicts: z.array(Verdict).max(LIMITS.requirements * 2 * LIMITS.validationScenarios),
    environment: Environment,
  })
  .meta({ id: "ValidationResult" });
export type ValidationResult = z.infer<typeof ValidationResult>;
