import { z } from "zod";
import { Backend } from "../fleet/hardware.ts";
import { PolicyNetwork } from "../models/policy-network.ts";
import { ArchiveDims, ArchiveSummary } from "../policies/archive.ts";
import { Estimate } from "../wire/distribution.ts";
import { faultFields } from "../wire/fault.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Name } from "../wire/page.ts";
import { RolloutThroughput } from "./evaluation/evaluation.ts";
import { JobArtifact } from "./job-artifact.ts";
import { deviceFields, Environment, sharingFields, targetFields } from "./job-fields.ts";

const positiveStep = z.number().positive().max(1e6);

const archiveFields = {
  dims: ArchiveDims.optional().meta({
    description: "Cells along each measure of the environment; absent: about 10,000 in all, or as many as a file takes",
  }),
  offset: z.number().optional().meta({
    description: "Subtracted from every fitness in the QD-score; absent: the environment's worst score",
  }),
  startSigma: positiveStep.optional().meta({
    description:
      "Spread of the first members round nothing, or the middle of a solution's bounds; absent: as a network's inputs ask for, or even over those bounds",
  }),
  bounded: z.boolean().default(true).meta({ description: "A solution's children stay within its bounds" }),
};

const archivePopulation = (standard: number) => z.number().int().min(2).max(LIMITS.populationMembers).default(standard);

/** MAP-Elites (Mouret and Clune 2015), with Gaussian or iso+line children (Vassiliades and Mouret 2018). */
export const MapElites = z.strictObject({
  name: z.literal("map-elites"),
  population: archivePopulation(1_024),
  operator: z.enum(["gaussian", "iso-line"]).default("iso-line"),
  sigma: positiveStep.default(0.05),
  lineSigma: positiveStep.default(0.1).meta({ description: "Of `iso-line`: the step along the line to another elite" }),
  ...archiveFields,
});
export type MapElites = z.infer<typeof MapElites>;

/** CMA-ME with the improvement emitter (Fontaine et al. 2020); with a learning rate below 1 CMA-MAE (2023). */
export const CmaMe = z.strictObject({
  name: z.literal("cma-me"),
  population: archivePopulation(128),
  sigma: positiveStep.default(0.5),
  covariance: z
    .enum(["full", "separable"])
    .optional()
    .meta({
      description: `Full for at most ${LIMITS.fullCovarianceParameters} parameters; absent: where it may be`,
    }),
  learningRate: z.number().min(0).max(1).default(1).meta({ description: "Of a cell's threshold (CMA-MAE's α)" }),
  thresholdMin: z.number().optional().meta({
    description: "Threshold of an empty cell where the learning rate is below 1; absent: `offset`",
  }),
  ...archiveFields,
});
export type CmaMe = z.infer<typeof CmaMe>;

const Seed = z
  .number()
  .int()
  .min(0)
  .max(2 ** 32 - 1);
const population = (standard: number) => z.number().int().min(2).max(LIMITS.populationMembers).default(standard);
const positive = z.number().positive().max(1e6);
const share = z.number().min(0).max(1);

/** Algorithm that updates a population by its fitness; see docs/policies.md. */
export const Algorithm = z
  .discriminatedUnion("name", [
    z.strictObject({
      name: z.literal("openes"),
      population: population(64),
      sigma: positive.default(0.1),
      learningRate: positive.default(0.05),
    }),
    z.strictObject({
      name: z.literal("pgpe"),
      population: population(64),
      sigma: positive.default(0.1),
      learningRate: positive.default(0.05),
      sigmaLearningRate: positive.default(0.1),
    }),
    z.strictObject({ name: z.literal("sep-cma-es"), population: population(32), sigma: positive.default(0.5) }),
    z.strictObject({
      name: z.literal("genetic"),
      population: population(256),
      mutationRate: share.default(0.1),
      sigma: positive.default(0.3),
      elites: z.number().int().min(0).max(1_024).default(8),
      tournament: z.number().int().min(1).max(64).default(4),
    }),
    z.strictObject({
      name: z.literal("species"),
      population: z.number().int().min(2).max(LIMITS.speciesMembers).default(150),
      addNode: share.default(0.03),
      addConnection: share.default(0.3),
      sigma: positive.default(0.5),
    }),
    MapElites,
    CmaMe,
  ])
  .meta({ id: "Algorithm" });
export type Algorithm = z.infer<typeof Algorithm>;

const sharedFields = {
  kind: z.literal("training"),
  environment: Name.meta({ description: "One that runners announce, or the name or id of a submitted one" }),
  network: PolicyNetwork.default({ kind: "mlp", hidden: [16], activation: "tanh", outputActivation: "none" }),
  algorithm: Algorithm,
  archive: idSchema("archive")
    .optional()
    .meta({ description: "Of an algorithm with an archive: the elites that it begins with" }),
  generations: z.number().int().min(1).max(LIMITS.trainingGenerations).default(100),
  episodes: z.number().int().min(1).max(1_024).default(16).meta({
    description: "Of each member in a generation, the same for all, other ones in every generation",
  }),
  stopAt: z.number().optional().meta({ description: "Mean return over fresh episodes that ends the training" }),
  evaluation: z
    .strictObject({
      everyGenerations: z.number().int().min(1).max(10_000).default(5),
      episodes: z.number().int().min(1).max(LIMITS.memberEpisodes).default(100),
    })
    .default({ everyGenerations: 5, episodes: 100 })
    .meta({ description: "Of the policy so far, on episodes that no training saw" }),
  checkpointMs: z.number().int().min(100).max(3_600_000).default(10_000).meta({
    description: "How often the state of the training is kept; a runner that is lost resumes there",
  }),
  publish: z
    .strictObject({ model: Name })
    .optional()
    .meta({ description: "The best policy becomes a version of this model, with its card" }),
  seed: Seed.default(1),
  backend: Backend.extract(["wgsl", "cpu-simd"]).optional(),
  timeoutMs: z.number().int().min(1_000).max(LIMITS.trainingMs).default(3_600_000),
  ...targetFields,
  ...deviceFields,
  ...sharingFields,
};

/** Trains a policy in an environment by evolution. */
export const TrainingInput = z.strictObject(sharedFields);
export const TrainingSpec = z
  .object({
    ...sharedFields,
    /** Of the archive that is named. */
    archiveFile: z.object({ digest: z.string(), sizeBytes: z.number().int() }).optional(),
  })
  .meta({ id: "TrainingSpec" });
export type TrainingSpec = z.infer<typeof TrainingSpec>;

/** Division of a generation into species. */
const SpeciesCensus = z
  .object({
    threshold: z.number().meta({ description: "Distance from which on genomes are of different species" }),
    count: z.number().int(),
    largest: z
      .array(
        z.object({
          id: z.number().int().meta({ description: "The same in every generation of a species" }),
          size: z.number().int(),
          best: z.number().nullable().meta({ description: "Fitness; null where all members failed" }),
        }),
      )
      .max(LIMITS.speciesTold),
  })
  .meta({ id: "SpeciesCensus" });
export type SpeciesCensus = z.infer<typeof SpeciesCensus>;

/** One point of a learning curve. */
export const CurvePoint = z
  .object({
    generation: z.number().int(),
    steps: z.number().int().meta({ description: "Of the environment, since the training began" }),
    best: z.number().meta({ description: "Fitness of the best member" }),
    mean: z.number().meta({ description: "Fitness over the members" }),
    fresh: z.number().nullable().meta({ description: "Mean return of the policy so far on fresh episodes" }),
    freshInterval: z
      .object({ low: z.number(), high: z.number() })
      .optional()
      .meta({ description: "Of that mean, 95 %; absent where there is none, and from an older runner" }),
    species: SpeciesCensus.optional(),
  })
  .meta({ id: "CurvePoint" });
export type CurvePoint = z.infer<typeof CurvePoint>;

export const TrainingResult = z
  .object({
    kind: z.literal("training"),
    task: z.object({ name: Name, digest: z.string().nullable() }).meta({ description: "The environment" }),
    algorithm: Algorithm,
    network: PolicyNetwork,
    generations: z.number().int(),
    solvedAtGeneration: z.number().int().nullable().meta({ description: "First whose fresh mean reached `stopAt`" }),
    curve: z.array(CurvePoint).max(LIMITS.curvePoints),
    best: z
      .object({ mean: Estimate, episodes: z.number().int(), seed: Seed })
      .meta({ description: "The policy that is published, over fresh episodes that chose nothing" }),
    resumedFrom: z.number().int().nullable().meta({ description: "Generation of the checkpoint that it went on from" }),
    published: z.object({ model: Name, modelVersionId: idSchema("modelVersion").nullable() }).nullable(),
    qualityDiversity: z
      .object({
        archive: ArchiveSummary,
        covariance: z.enum(["full", "separable"]).nullable().meta({ description: "Of `cma-me`" }),
        restarts: z.number().int(),
      })
      .nullable()
      .default(null)
      .meta({ description: "Of an algorithm with an archive, which is the job's file `archive`" }),
    throughput: RolloutThroughput,
    artifacts: z.array(JobArtifact).max(LIMITS.jobArtifacts),
    environment: Environment,
    ...faultFields,
  })
  .meta({ id: "TrainingResult" });
export type TrainingResult = z.infer<typeof TrainingResult>;
