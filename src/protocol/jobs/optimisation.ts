import { z } from "zod";
import { CalibratedPlacement } from "./calibration.ts";
import { Environment, JobSubject, JobSubjectInput, targetFields } from "./job-fields.ts";
import { Backend, DeviceKey } from "../fleet/hardware.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Name } from "../wire/page.ts";
import { Problem } from "../wire/problem.ts";
import { ServingConfiguration } from "../fleet/serving.ts";
import { ValidationResult } from "./validation.ts";

const targets = {
  latencyMs: z.number().positive().optional(),
  percentile: z.number().gt(0).lt(1).default(0.99),
  throughputPerS: z.number().positive().optional(),
  memoryBytes: z.number().int().positive().optional(),
  minFidelity: z.number().min(0).max(1).default(0),
};
/** The same as it is asked for: what is absent may come from a profile. */
const askedTargets = {
  ...targets,
  percentile: targets.percentile.unwrap().optional(),
  minFidelity: targets.minFidelity.unwrap().optional(),
};
/** Targets of a configuration; an absent field is not required. */
export const OptimisationTargets = z.object(targets).meta({ id: "OptimisationTargets" });
export type OptimisationTargets = z.infer<typeof OptimisationTargets>;

const counts = z.array(z.number().int().min(1)).min(1).max(16);
const space = {
  deviceKeys: z.array(DeviceKey).min(1).max(LIMITS.devices).optional(),
  backends: z.array(Backend).min(1).max(8).optional(),
  variants: z.array(Name).min(1).max(LIMITS.variantsPerVersion).optional(),
  threads: counts.optional(),
  maxRows: counts.optional(),
  concurrency: counts.optional(),
};
/** Search space; an absent field means all that the runner can do. */
export const SearchSpace = z.object(space).meta({ id: "SearchSpace" });
export type SearchSpace = z.infer<typeof SearchSpace>;

const Objective = z.enum(["throughput", "latency"]);

const sharedFields = {
  kind: z.literal("optimisation"),
  budgetMs: z.number().int().min(1_000).max(LIMITS.optimisationMs).default(60_000).meta({
    description: "The search ends within about this time, with the best that it has found; validations come on top",
  }),
  maxTrials: z.number().int().min(1).max(LIMITS.optimisationTrials).optional().meta({
    description:
      "Measurements at most, repeated ones among them, but for those that decide whether what is served now stays; absent: as many as there is time for",
  }),
  apply: z.boolean().default(false).meta({
    description: "Makes the best one the placement's configuration, if a validation before and after bears it out",
  }),
  seed: z
    .number()
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(1),
  ...targetFields,
};

/** Searches for the configuration that serves a model or runs a kernel best on a runner, within targets. */
export const OptimisationInput = z.strictObject({
  ...sharedFields,
  subject: JobSubjectInput,
  objective: Objective.optional().meta({
    description: "What is best among those that reach every target; absent: throughput",
  }),
  targets: z.strictObject(askedTargets).optional().meta({
    description: "What is absent is taken from the profile, where one is named",
  }),
  space: z.strictObject(space).optional(),
});

/** The same as the queue keeps it: what was named is filled in by the edge. */
export const OptimisationSpec = z
  .object({
    ...sharedFields,
    subject: JobSubject,
    objective: Objective,
    targets: OptimisationTargets,
    space: SearchSpace,
    modelVersionId: idSchema("modelVersion").optional().meta({ description: "Of a model" }),
    standing: z
      .object({
        placementId: idSchema("placement"),
        deviceKey: DeviceKey,
        backend: Backend,
        variant: Name,
        configuration: ServingConfiguration,
      })
      .optional()
      .meta({ description: "Of a model: the placement that requests get now, on the runner of the job" }),
    fidelities: z.record(Name, z.number()).optional().meta({
      description: "By variant, as its uploader measured it; the others are measured",
    }),
  })
  .meta({ id: "OptimisationSpec" });
export type OptimisationSpec = z.infer<typeof OptimisationSpec>;

/** One point of the space. Of a kernel, `axes` are its tuning axes and `maxRows` its batch; of a model there are none. */
export const Candidate = z
  .object({
    deviceKey: DeviceKey,
    backend: Backend,
    variant: Name,
    threads: z.number().int().min(1),
    maxRows: z.number().int().min(1),
    concurrency: z.number().int().min(1).meta({ description: "Requests in flight at once" }),
    axes: z.record(z.string(), z.number().int()).optional(),
  })
  .meta({ id: "Candidate" });
export type Candidate = z.infer<typeof Candidate>;

const Missed = z.object({
  target: z.enum(["latencyMs", "throughputPerS", "memoryBytes", "minFidelity"]),
  wanted: z.number(),
  found: z.number(),
  factor: z.number().meta({ description: "How many times too slow, too large, too little: above 1" }),
});

/** One candidate that was tried, in order. */
export const OptimisationTrial = z
  .object({
    candidate: Candidate,
    outcome: z.enum(["measured", "failed"]),
    problem: Problem.nullable(),
    throughputPerS: z.number().nullable(),
    p50Ms: z.number().nullable(),
    latencyMs: z.number().nullable().meta({ description: "At the percentile of the targets" }),
    memoryBytes: z.number().nullable(),
    fidelity: z.number().nullable(),
    queries: z.number().int().meta({ description: "Of all rounds; of a kernel, its timed runs" }),
    rounds: z.number().int().min(1).meta({
      description: "How often it was measured: close rivals meet again, and what stands here is of all rounds",
    }),
    predicted: z
      .object({ throughputPerS: z.number(), latencyMs: z.number() })
      .nullable()
      .meta({ description: "What the cost model expected before; null for the first ones" }),
    misses: z.array(Missed).max(4),
  })
  .meta({ id: "OptimisationTrial" });
export type OptimisationTrial = z.infer<typeof OptimisationTrial>;

const Index = z.number().int().min(0);

export const OptimisationResult = z
  .object({
    kind: z.literal("optimisation"),
    subject: JobSubject,
    modelVersionId: idSchema("modelVersion").nullable(),
    targets: OptimisationTargets,
    objective: Objective,
    candidates: z.number().int().meta({ description: "Size of the space" }),
    trials: z.array(OptimisationTrial).min(1).max(LIMITS.optimisationTrials),
    default: Index.nullable().meta({ description: "The trial of what the placement is served as now" }),
    best: Index.nullable().meta({ description: "The best trial that reaches every target; null: infeasible" }),
    pareto: z.array(Index).max(LIMITS.optimisationTrials).meta({
      description: "Trials that no other beats in throughput, latency, memory and fidelity at once",
    }),
    infeasible: z
      .object({ nearest: Index, misses: z.array(Missed).min(1).max(4), detail: z.string().max(512) })
      .nullable()
      .meta({ description: "Where nothing that was tried reaches every target: what comes nearest" }),
    gain: z
      .object({ throughput: z.number().nullable(), latency: z.number().nullable() })
      .nullable()
      .meta({ description: "Best over default, oriented so that above 1 is better" }),
    applied: z
      .object({
        applied: z.boolean(),
        detail: z.string().max(512),
        configuration: ServingConfiguration.nullable().meta({ description: "The one that was found; null: none" }),
        before: ValidationResult.nullable().meta({ description: "Null where nothing was to be applied" }),
        after: ValidationResult.nullable(),
        placement: CalibratedPlacement.nullable().meta({
          description: "The placement whose configuration it is, as it was calibrated under it; null where not applied",
        }),
      })
      .nullable()
      .meta({ description: "Null where `apply` was not asked for" }),
    budgetMs: z.number(),
    spentMs: z.number(),
    complete: z.boolean().meta({ description: "False where the budget cut the search short" }),
    environment: Environment,
  })
  .meta({ id: "OptimisationResult" });
export type OptimisationResult = z.infer<typeof OptimisationResult>;
