import { z } from "@hono/zod-openapi";
import { ArchiveDims } from "./archive.ts";
import { LIMITS } from "./limits.ts";

const positive = z.number().positive().max(1e6);

const archiveFields = {
  dims: ArchiveDims.optional().openapi({
    description: "Cells along each measure of the environment; absent: about 10,000 in all, or as many as a file takes",
  }),
  offset: z.number().optional().openapi({
    description: "Subtracted from every fitness in the QD-score; absent: the environment's worst score",
  }),
  startSigma: positive.optional().openapi({
    description:
      "Spread of the first members round nothing, or the middle of a solution's bounds; absent: as a network's inputs ask for, or even over those bounds",
  }),
  bounded: z.boolean().default(true).openapi({ description: "A solution's children stay within its bounds" }),
};

const population = (standard: number) => z.number().int().min(2).max(LIMITS.populationMembers).default(standard);

/** MAP-Elites (Mouret and Clune 2015), with Gaussian or iso+line children (Vassiliades and Mouret 2018). */
export const MapElites = z.strictObject({
  name: z.literal("map-elites"),
  population: population(1_024),
  operator: z.enum(["gaussian", "iso-line"]).default("iso-line"),
  sigma: positive.default(0.05),
  lineSigma: positive.default(0.1).openapi({ description: "Of `iso-line`: the step along the line to another elite" }),
  ...archiveFields,
});
export type MapElites = z.infer<typeof MapElites>;

/** CMA-ME with the improvement emitter (Fontaine et al. 2020); with a learning rate below 1 CMA-MAE (2023). */
export const CmaMe = z.strictObject({
  name: z.literal("cma-me"),
  population: population(128),
  sigma: positive.default(0.5),
  covariance: z
    .enum(["full", "separable"])
    .optional()
    .openapi({
      description: `Full for at most ${LIMITS.fullCovarianceParameters} parameters; absent: where it may be`,
    }),
  learningRate: z.number().min(0).max(1).default(1).openapi({ description: "Of a cell's threshold (CMA-MAE's α)" }),
  thresholdMin: z.number().optional().openapi({
    description: "Threshold of an empty cell where the learning rate is below 1; absent: `offset`",
  }),
  ...archiveFields,
});
export type CmaMe = z.infer<typeof CmaMe>;
