import { z } from "zod";
import { PooledAgents, PoolPlace } from "./agent-pool.ts";
import { Environment, targetFields } from "./job-fields.ts";
import { JobArtifact } from "./job-artifact.ts";
import { LIMITS } from "../wire/limits.ts";
import { Name } from "../wire/page.ts";
import { float32Numbers } from "../wire/tensor.ts";

const sharedFields = {
  kind: z.literal("evolution"),
  fitness: float32Numbers(LIMITS.poolAgents)
    .optional()
    .meta({ description: "Of every agent, in order; more is better" }),
  objectives: z
    .array(float32Numbers(16))
    .min(1)
    .max(LIMITS.rankedAgents)
    .optional()
    .meta({ description: "Of every agent several, more is better: ranked by fronts and crowding (NSGA-II)" }),
  mutationRate: z.number().min(0).max(1).default(0.1),
  sigma: z.number().min(0).max(1e6).default(0.1).meta({ description: "Of a mutation" }),
  lowest: z.number().min(-1e9).max(1e9).default(-1),
  highest: z.number().min(-1e9).max(1e9).default(1),
  elites: z.number().int().min(1).max(1_024).default(1),
  tournament: z.number().int().min(1).max(64).default(4),
  seed: z
    .number()
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .default(1),
  timeoutMs: z.number().int().min(1_000).max(600_000).default(120_000),
  ...targetFields,
};

/** Makes the next generation of a pool out of the present one: elites, tournaments, crossover, mutation. */
export const EvolutionInput = z
  .strictObject({ ...sharedFields, pool: Name })
  .refine(({ fitness, objectives }) => (fitness === undefined) !== (objectives === undefined), {
    path: ["fitness"],
    message: "must be given, or objectives, and not both",
  });
export const EvolutionSpec = z.object({ ...sharedFields, pool: PooledAgents }).meta({ id: "EvolutionSpec" });
export type EvolutionSpec = z.infer<typeof EvolutionSpec>;

export const EvolutionResult = z
  .object({
    kind: z.literal("evolution"),
    pool: Name,
    generation: z.number().int().meta({ description: "That was made" }),
    artifact: JobArtifact.meta({ description: "Its states. The pool has them unless it was changed meanwhile" }),
    best: z.object({ agent: z.number().int(), fitness: z.number().nullable() }).meta({
      description: "Of the generation before: now the first agent",
    }),
    fronts: z.number().int().nullable().meta({ description: "Of objectives" }),
    diversity: z
      .object({ before: z.number(), after: z.number(), agents: z.number().int() })
      .meta({ description: "Mean distance of pairs among the first agents" }),
    place: PoolPlace,
    computeMs: z.number(),
    environment: Environment,
  })
  .meta({ id: "EvolutionResult" });
export type EvolutionResult = z.infer<typeof EvolutionResult>;
