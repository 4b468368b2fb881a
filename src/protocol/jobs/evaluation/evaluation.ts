import { z } from "zod";
import { defineEndpoint } from "../../endpoint.ts";
import { Backend } from "../../fleet/hardware.ts";
import { RolloutEnvironment } from "../../fleet/rollout-environment.ts";
import { PolicyNetwork } from "../../models/policy-network.ts";
import { Scores } from "../../wire/distribution.ts";
import { faultFields } from "../../wire/fault.ts";
import { idSchema } from "../../wire/id.ts";
import { LIMITS } from "../../wire/limits.ts";
import { Name, pageOf, PageQuery } from "../../wire/page.ts";
import { FLAT_MEDIA_TYPES, formatQuery } from "../../wire/table-format.ts";
import { JobArtifact } from "../job-artifact.ts";
import { deviceFields, DeviceShare, Environment, sharingFields, targetFields } from "../job-fields.ts";
import { EvaluationComparison, EvaluationComparisonQuery } from "./evaluation-comparison.ts";

/** Rollout speed, with the facts needed to read it. */
export const RolloutThroughput = z
  .object({
    backend: Backend,
    chosenFrom: z.array(z.object({ backend: Backend, stepsPerSecond: z.number() })).meta({
      description:
        "What each backend did in the trial by which this one was chosen; empty: it was asked for, or is the only one",
    }),
    steps: z.number().int().meta({ description: "Of the environment, all members and episodes together" }),
    evaluations: z.number().int().meta({ description: "Episodes" }),
    durationMs: z.number(),
    stepsPerSecond: z.number(),
    evaluationsPerSecond: z.number(),
    meanEpisodeLength: z.number(),
    parameters: z.number().int().meta({ description: "Of one member's network" }),
    members: z.number().int(),
    inferenceIncluded: z.literal(true),
    devices: z
      .array(DeviceShare)
      .max(LIMITS.devices)
      .optional()
      .meta({ description: "Those that shared the work, all at once; absent: one device did it" }),
  })
  .meta({ id: "RolloutThroughput" });
export type RolloutThroughput = z.infer<typeof RolloutThroughput>;

const Seed = z
  .number()
  .int()
  .min(0)
  .max(2 ** 32 - 1);

const sharedFields = {
  kind: z.literal("evaluation"),
  environment: Name.meta({ description: "One that runners announce, or the name or id of a submitted one" }),
  episodes: z
    .number()
    .int()
    .min(0)
    .max(LIMITS.memberEpisodes)
    .default(100)
    .meta({ description: "Of each member; with none the policies are only checked" }),
  record: z.number().int().min(0).max(LIMITS.recordedEpisodes).default(0).meta({
    description:
      "The first so many episodes of each policy, of a population of its best member, are kept state by state",
  }),
  seed: Seed.default(1),
  commonRandom: z
    .boolean()
    .default(true)
    .meta({ description: "The n-th episodes of all members have the same draws, so that differences are paired" }),
  backend: Backend.extract(["wgsl", "cpu-simd"])
    .optional()
    .meta({ description: "Absent: the faster one on the machine, by a trial" }),
  timeoutMs: z.number().int().min(1_000).max(LIMITS.evaluationMs).default(600_000),
  ...targetFields,
  ...deviceFields,
  ...sharingFields,
};

/** Evaluates policies in an environment: models of dense layers, or a population that was uploaded. */
export const EvaluationInput = z
  .strictObject({
    ...sharedFields,
    policies: z
      .array(z.string().min(1).max(128))
      .min(1)
      .max(LIMITS.evaluatedPolicies)
      .optional()
      .meta({ description: "Names or ids of models; `name@2` names a version" }),
    population: z.string().min(1).max(128).optional().meta({ description: "Id or name of a population" }),
  })
  .refine(({ policies, population }) => (policies === undefined) !== (population === undefined), {
    path: ["policies"],
    message: "must be given, or population, and not both",
  });

/** Members of one form in one file, as a runner fetches them. */
export const Entrant = z.object({
  name: z.string().max(128),
  /** Of a model. */
  modelVersionId: idSchema("modelVersion").optional(),
  populationId: idSchema("population").optional(),
  digest: z.string(),
  offsetBytes: z.number().int().min(0),
  members: z.number().int().min(1),
  parameters: z.number().int().min(1),
  network: PolicyNetwork,
});
export type Entrant = z.infer<typeof Entrant>;

/** The same as the queue keeps it: what was named is found by the edge. */
export const EvaluationSpec = z
  .object({ ...sharedFields, entrants: z.array(Entrant).min(1).max(LIMITS.evaluatedPolicies) })
  .meta({ id: "EvaluationSpec" });
export type EvaluationSpec = z.infer<typeof EvaluationSpec>;

/** One episode of an evaluation. */
export const Episode = z
  .object({
    entrant: z.number().int().meta({ description: "Place among the run's entrants" }),
    member: z.number().int(),
    episode: z.number().int(),
    return: z.number().nullable().meta({ description: "Null where it is not finite: the member failed" }),
    length: z.number().int(),
    terminated: z.boolean(),
    truncated: z.boolean(),
    failed: z.boolean(),
  })
  .meta({ id: "Episode" });
export type Episode = z.infer<typeof Episode>;

const index = z.coerce.number().int().min(0);

/** Range of episodes, counted from 0. */
export const EpisodeQuery = z.strictObject({
  entrant: index.optional().meta({ description: "Episodes of this entrant only, by its place in the result" }),
  member: index.optional().meta({ description: "Of this member of a population" }),
  fromEpisode: index.optional().meta({ description: "The first episode, by number" }),
  toEpisode: index.optional().meta({ description: "The first that is left out" }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMITS.episodePageSize)
    .default(1_000)
    .meta({ description: "How many episodes a page has at most" }),
  cursor: PageQuery.shape.cursor,
  ...formatQuery,
});
export type EpisodeQuery = z.infer<typeof EpisodeQuery>;
export const EpisodePage = pageOf(Episode, "Episode");
export type EpisodePage = z.infer<typeof EpisodePage>;

/** Scores of one entrant; for a population, of all members together and of the best ones. */
const EvaluatedEntrant = z.object({
  name: z.string(),
  modelVersionId: idSchema("modelVersion").nullable(),
  members: z.number().int(),
  scores: Scores.nullable().meta({ description: "Null where there was no episode, or every member failed" }),
  meanLength: z.number().nullable(),
  causes: z
    .object({ terminated: z.number().int(), truncated: z.number().int(), both: z.number().int() })
    .meta({ description: "Episodes by why they ended" }),
  failed: z
    .array(z.object({ member: z.number().int(), reason: z.string().max(256) }))
    .max(100)
    .meta({ description: "Members that failed, which no score counts; of more, the first" }),
  failedMembers: z.number().int(),
  best: z
    .array(z.object({ member: z.number().int(), mean: z.number(), low: z.number(), high: z.number() }))
    .max(10)
    .meta({ description: "Members by their mean return; chosen and measured on the same episodes, so too good" }),
});
export type EvaluatedEntrant = z.infer<typeof EvaluatedEntrant>;

export const EvaluationResult = z
  .object({
    kind: z.literal("evaluation"),
    task: z.object({ name: Name, digest: z.string().nullable() }).meta({ description: "The environment" }),
    episodes: z.number().int(),
    seed: Seed,
    commonRandom: z.boolean(),
    entrants: z.array(EvaluatedEntrant).max(LIMITS.evaluatedPolicies),
    waves: z.number().int().meta({ description: "Parts in which a population went that exceeds the memory; 1: whole" }),
    throughput: RolloutThroughput.nullable(),
    scores: RolloutEnvironment.shape.scores.meta({ description: "Returns that normalise to 0 and 1" }),
    proof: z
      .object({ steps: z.number().int(), agreeing: z.number().int(), largestDifference: z.number() })
      .nullable()
      .meta({
        description:
          "Steps of the environment on this device that agree with its reference in f64, of those that were tried first and that no rounding decides; null of a submitted one, which has none",
      }),
    artifact: JobArtifact.nullable().meta({ description: "Every episode" }),
    replay: JobArtifact.nullable()
      .default(null)
      .meta({ description: "What `record` asked for, as the environment's reference goes through it" }),
    environment: Environment,
    ...faultFields,
  })
  .meta({ id: "EvaluationResult" });
export type EvaluationResult = z.infer<typeof EvaluationResult>;

/** Routes of what evaluations found. */
export const evaluationEndpoints = {
  listEpisodes: defineEndpoint({
    method: "get",
    path: "/v1/runs/{id}/episodes",
    tag: "evaluations",
    summary: "The episodes of an evaluation: return, length and cause of end of each",
    description:
      "By entrant, member and episode. A page reads a part of the file only, so it may hold fewer than `limit` and still have a `nextCursor`.",
    access: "read",
    params: z.object({ id: idSchema("run") }),
    query: EpisodeQuery,
    reply: { status: 200, schema: EpisodePage, alsoAs: FLAT_MEDIA_TYPES, cached: "tag" },
    problems: ["not-found"],
  }),
  compareEvaluations: defineEndpoint({
    method: "get",
    path: "/v1/evaluations/compare",
    tag: "evaluations",
    summary: "Hold evaluations against each other: differences with intervals, and the probability of improvement",
    description: "Episodes of the same environment, seed and number are paired, where their draws were common.",
    access: "read",
    isHeavy: true,
    query: EvaluationComparisonQuery,
    reply: { status: 200, schema: EvaluationComparison, cached: "tag" },
    problems: ["not-found"],
  }),
} as const;
