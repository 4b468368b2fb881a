import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { PlotLook } from "../models/plot-endpoints.ts";
import { PolicyNetwork } from "../models/policy-network.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, Name, pageOf, PageQuery } from "../wire/page.ts";

/** Number format of genomes: the smaller ones have a scale for each genome, by its largest number. */
export const GenomeFormat = z.enum(["float32", "float16", "int8"]).meta({ id: "GenomeFormat" });
export type GenomeFormat = z.infer<typeof GenomeFormat>;

/** Cells along one axis. */
const cellCount = z.number().int().min(1).max(LIMITS.archiveCells);
export const ArchiveDims = z.array(cellCount).min(1).max(LIMITS.archiveMeasures);

/** A grid of elites by behaviour, in short; pyribs' semantics (see docs/policies.md). */
export const ArchiveSummary = z
  .object({
    environment: Name,
    network: PolicyNetwork.nullable(),
    parameters: z.number().int(),
    dims: ArchiveDims,
    ranges: z.array(z.object({ low: z.number(), high: z.number() })).max(LIMITS.archiveMeasures),
    filled: z.number().int(),
    coverage: z.number().meta({ description: "Filled cells over all" }),
    qdScore: z.number().meta({ description: "Σ(fitness − offset)" }),
    offset: z.number().meta({ description: "Subtracted from every fitness in `qdScore`" }),
    best: z.number().nullable(),
    genomes: z
      .object({
        format: GenomeFormat,
        largestError: z.number().meta({
          description: "Of a number, over the largest of its genome: measured, as they were made smaller",
        }),
      })
      .default({ format: "float32", largestError: 0 }),
    prunedFrom: idSchema("archive").nullable().default(null),
  })
  .meta({ id: "ArchiveSummary" });
export type ArchiveSummary = z.infer<typeof ArchiveSummary>;

/** An archive that is kept, by itself or as a training left it. */
export const StoredArchive = ArchiveSummary.extend({
  id: idSchema("archive"),
  jobId: idSchema("job").nullable(),
  digest: z.string(),
  sizeBytes: z.number().int(),
  createdAt: Instant,
}).meta({ id: "Archive" });
export type StoredArchive = z.infer<typeof StoredArchive>;
const ArchivePage = pageOf(StoredArchive, "Archive");

export const ArchiveListQuery = PageQuery.extend({
  environment: Name.optional().meta({ description: "Archives of this environment only" }),
  job: idSchema("job").optional().meta({ description: "Archives that this job left" }),
});

/** The best of one cell. */
const Elite = z.object({
  cell: z.number().int().meta({ description: "In C order: the last measure counts fastest" }),
  fitness: z.number(),
  measures: z.array(z.number()),
});
export const ElitePage = pageOf(Elite, "Elite");
export type ElitePage = z.infer<typeof ElitePage>;

/** Elites are small, so that a page holds more of them than of other things. */
const EliteListQuery = PageQuery.extend({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMITS.listedElites)
    .default(1_000)
    .meta({ description: "How many elites a page has at most" }),
});

/** Selection of the elites to keep. */
export const PruneInput = z
  .strictObject({
    dropShare: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .meta({ description: "This share of the elites goes, the worst first; of equal ones those found last" }),
    minFitness: z.number().optional().meta({ description: "Elites below go" }),
    genomes: GenomeFormat.optional().meta({
      description: "How those that stay are kept; absent: as they are. What was lost does not come back",
    }),
  })
  .refine((input) => Object.values(input).some((value) => value !== undefined), {
    path: ["dropShare"],
    message: "must be given, or minFitness or genomes",
  })
  .meta({ id: "PruneInput" });
export type PruneInput = z.infer<typeof PruneInput>;

const byArchiveId = z.object({ id: idSchema("archive") });

/** Routes of the archives that searches for diversity left. */
export const archiveEndpoints = {
  listArchives: defineEndpoint({
    method: "get",
    path: "/v1/archives",
    tag: "archives",
    summary: "List archives of elites, newest first",
    access: "read",
    query: ArchiveListQuery,
    reply: { status: 200, schema: ArchivePage },
  }),
  getArchive: defineEndpoint({
    method: "get",
    path: "/v1/archives/{id}",
    tag: "archives",
    summary: "Describe an archive: its grid, coverage, QD-score and best",
    access: "read",
    params: byArchiveId,
    reply: { status: 200, schema: StoredArchive },
    problems: ["not-found"],
  }),
  listElites: defineEndpoint({
    method: "get",
    path: "/v1/archives/{id}/elites",
    tag: "archives",
    summary: "List the elites of an archive without their genomes, in the order in which their cells were found",
    access: "read",
    params: byArchiveId,
    query: EliteListQuery,
    reply: { status: 200, schema: ElitePage },
    problems: ["not-found"],
  }),
  plotArchive: defineEndpoint({
    method: "get",
    path: "/v1/archives/{id}/heatmap.svg",
    tag: "archives",
    summary: "Fitness by the first two measures; of more measures the best along the others",
    access: "read",
    isHeavy: true,
    params: byArchiveId,
    query: PlotLook,
    reply: { status: 200, mediaType: "image/svg+xml", cached: "tag" },
    problems: ["not-found"],
  }),
  downloadArchive: defineEndpoint({
    method: "get",
    path: "/v1/archives/{id}/download",
    tag: "archives",
    summary: "Fetch an archive with its genomes as a safetensors file; takes `Range` and `If-None-Match`",
    access: "read",
    params: byArchiveId,
    reply: { status: 200, mediaType: "application/octet-stream", cached: "ranges" },
    problems: ["not-found"],
  }),
  pruneArchive: defineEndpoint({
    method: "post",
    path: "/v1/archives/{id}/prune",
    tag: "archives",
    summary: "Make a smaller archive of one: without its worst elites, or with genomes that take less room",
    access: "submit",
    params: byArchiveId,
    body: PruneInput,
    reply: { status: 201, schema: StoredArchive },
    problems: ["not-found", "quota-exceeded"],
  }),
  deleteArchive: defineEndpoint({
    method: "delete",
    path: "/v1/archives/{id}",
    tag: "archives",
    summary: "Delete an archive; trainings that began from it stay",
    access: "submit",
    params: byArchiveId,
    reply: { status: 204 },
    problems: ["not-found"],
  }),
} as const;
