import { z } from "zod";
import { LIMITS } from "../wire/limits.ts";
import { Instant, Name, pageOf } from "../wire/page.ts";
import { LoadPath, ScenarioKind } from "./scenario.ts";

/**
 * Metrics that a requirement can use. `memoryBytes` is of the runner's process, `gpuMemoryBytes` of buffers on the
 * device.
 */
export const RequiredMetric = z
  .enum([
    "latencyMs",
    "throughputPerS",
    "memoryBytes",
    "gpuMemoryBytes",
    "startupMs",
    "artifactBytes",
    "fidelity",
    "errorRate",
  ])
  .meta({ id: "RequiredMetric" });
export type RequiredMetric = z.infer<typeof RequiredMetric>;

/** The scenarios that measure a metric; one that is not here belongs to the validation as a whole. */
export const SCENARIOS_OF: Partial<Record<RequiredMetric, readonly ScenarioKind[]>> = {
  latencyMs: ["singleStream", "multiStream", "server"],
  throughputPerS: ["singleStream", "multiStream", "server", "offline"],
  errorRate: ["singleStream", "multiStream", "server", "offline"],
};

const fields = {
  metric: RequiredMetric,
  percentile: z.number().gt(0).lt(1).optional().meta({ description: "Of a latency; absent: 0.99" }),
  scenario: ScenarioKind.optional().meta({ description: "Absent: every scenario of the job that measures it" }),
  path: LoadPath.optional().meta({ description: "Absent: every path that was measured" }),
  atMost: z.number().min(0).optional(),
  atLeast: z.number().min(0).optional(),
};

/** One thing that is needed, such as `{"metric":"latencyMs","percentile":0.5,"atMost":10}`. */
export const Requirement = z.object(fields).meta({ id: "Requirement" });
export type Requirement = z.infer<typeof Requirement>;

/** The same as it is asked for: one bound, and a percentile for latencies alone. */
export const RequirementInput = z
  .strictObject(fields)
  .refine(({ atMost, atLeast }) => (atMost === undefined) !== (atLeast === undefined), {
    message: "wants either atMost or atLeast",
  })
  .refine(({ metric, percentile }) => metric === "latencyMs" || percentile === undefined, {
    message: "belongs to latencyMs alone",
    path: ["percentile"],
  })
  .meta({ id: "RequirementInput" });

export const RequirementsInput = z.array(RequirementInput).max(LIMITS.requirements);

const setFields = {
  name: Name,
  description: z.string().max(512).default(""),
  requirements: RequirementsInput.min(1),
};

/** Requirements under a name, so that many validations can use them. */
export const RequirementSetInput = z.strictObject(setFields).meta({ id: "RequirementSetInput" });
export type RequirementSetInput = z.infer<typeof RequirementSetInput>;
export const RequirementSetUpdate = RequirementSetInput.omit({ name: true }).meta({ id: "RequirementSetUpdate" });
export type RequirementSetUpdate = z.infer<typeof RequirementSetUpdate>;

export const RequirementSet = z
  .object({
    name: Name,
    description: z.string(),
    requirements: z.array(Requirement),
    version: z.number().int(),
    updatedAt: Instant,
  })
  .meta({ id: "RequirementSet" });
export type RequirementSet = z.infer<typeof RequirementSet>;
export const RequirementSetPage = pageOf(RequirementSet, "RequirementSet");

/** Verdict of one requirement under one scenario and path. `insufficient`: too few samples for a verdict either way. */
export const Verdict = z
  .object({
    requirement: Requirement,
    scenario: ScenarioKind.nullable(),
    path: LoadPath.nullable(),
    outcome: z.enum(["pass", "fail", "insufficient"]),
    measured: z.number().nullable(),
    low: z.number().nullable(),
    high: z.number().nullable(),
    margin: z.number().nullable().meta({
      description: "What is left, as a share of the bound: negative where it is missed",
    }),
    detail: z.string().max(512),
  })
  .meta({ id: "Verdict" });
export type Verdict = z.infer<typeof Verdict>;
