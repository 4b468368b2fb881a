import { z } from "@hono/zod-openapi";
import { Environment } from "./environment.ts";
import { Backend, DeviceKey } from "./hardware.ts";
import { idSchema } from "./id.ts";
import { JobSubject, JobSubjectInput } from "./job-subject.ts";
import { deviceFields, targetFields } from "./job-target.ts";
import { LIMITS } from "./limits.ts";
import { Name } from "./page.ts";
import { Requirement, RequirementsInput, Verdict } from "./requirement.ts";
import { LoadPath, Scenario, ScenarioInput, ScenarioResult } from "./scenario.ts";
import { ServingConfiguration, ServingConfigurationInput } from "./serving-configuration.ts";

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
    .openapi({ description: "A list, or the name of a requirement set" }),
  configuration: ServingConfigurationInput.optional().openapi({ description: "Absent: as the placement is served" }),
});

/** The same as the queue keeps it: what was named is filled in by the edge. */
export const ValidationSpec = z
  .object({
    ...sharedFields,
    subject: JobSubject,
    scenarios: z.array(Scenario).min(1).max(LIMITS.validationScenarios),
    requirements: z.array(Requirement).max(LIMITS.requirements),
    configuration: ServingConfiguration.optional(),
    requirementSet: Name.optional().openapi({ description: "The set that the requirements are of" }),
    modelVersionId: idSchema("modelVersion").optional().openapi({ description: "Of a model" }),
    placementId: idSchema("placement").optional().openapi({ description: "Of a model: the one that is validated" }),
    fidelity: z.number().nullable().optional().openapi({ description: "Of that placement" }),
  })
  .openapi("ValidationSpec");
export type ValidationSpec = z.infer<typeof ValidationSpec>;

/** What was validated: a variant on a device by a backend under a configuration. */
export const ValidatedPlace = z
  .object({
    deviceKey: DeviceKey,
    backend: Backend,
    variant: Name,
    placementId: idSchema("placement").nullable(),
    configuration: ServingConfiguration.nullable(),
  })
  .openapi("ValidatedPlace");
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
      .openapi({ description: "From nothing loaded to loaded, and from there to the first answer" }),
    memory: z.object({
      hostPeakBytes: z
        .number()
        .nullable()
        .openapi({ description: "Resident set of the device's process, at its peak" }),
      hostGrownBytes: z.number().nullable().openapi({ description: "By which it grew under the load" }),
      gpuPeakBytes: z.number().nullable().openapi({ description: "Buffers of ours on the device; null where unknown" }),
    }),
    artifactBytes: z.number().nullable(),
    fidelity: z.number().nullable(),
    verdict: z.enum(["pass", "fail", "insufficient"]).openapi({
      description: "`fail` where any requirement failed, else `insufficient` where any could not be told",
    }),
    verdicts: z.array(Verdict).max(LIMITS.requirements * 2 * LIMITS.validationScenarios),
    environment: Environment,
  })
  .openapi("ValidationResult");
export type ValidationResult = z.infer<typeof ValidationResult>;
