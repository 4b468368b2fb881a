import { z } from "@hono/zod-openapi";
import { ArchiveListQuery, ArchivePage, EliteListQuery, ElitePage, PruneInput, StoredArchive } from "./archive.ts";
import { defineEndpoint } from "./endpoint.ts";
import { idSchema } from "./id.ts";
import { PlotLook } from "./plot-endpoints.ts";

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
    params: byArchiveId,
    query: PlotLook,
    reply: { status: 200, mediaType: "image/svg+xml" },
    problems: ["not-found"],
  }),
  downloadArchive: defineEndpoint({
    method: "get",
    path: "/v1/archives/{id}/download",
    tag: "archives",
    summary: "Fetch an archive with its genomes as a safetensors file; takes `Range` and `If-None-Match`",
    access: "read",
    params: byArchiveId,
    reply: { status: 200, mediaType: "application/octet-stream" },
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
    problems: ["not-found", "conflict", "payload-too-large"],
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
