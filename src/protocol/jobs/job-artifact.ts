import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { Digest, idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";

/** Files that a job may leave beside its result, by what is in them. */
export const JobArtifactName = z
  .enum(["episodes", "checkpoint", "policy", "population", "archive", "variant", "replay"])
  .meta({ id: "JobArtifactName" });
export type JobArtifactName = z.infer<typeof JobArtifactName>;

/** Media types of an artifact, for upload and download. */
export const ARTIFACT_MEDIA_TYPES = ["application/octet-stream", "application/json", "application/vnd.apache.parquet"];

/** A file that a runner left for a job; the latest of its name is kept. */
export const JobArtifact = z
  .object({
    name: JobArtifactName,
    digest: Digest,
    sizeBytes: z.number().int().min(0).max(LIMITS.jobArtifactBytes),
    mediaType: z.string().max(128),
  })
  .meta({ id: "JobArtifact" });
export type JobArtifact = z.infer<typeof JobArtifact>;

const JobArtifactList = z.object({ items: z.array(JobArtifact) }).meta({ id: "JobArtifactList" });

/** The lease that a runner reads and writes a job's files under. */
const LeaseQuery = z.strictObject({
  epoch: z.coerce.number().int().min(1).meta({ description: "Epoch of the lease under which the runner works" }),
});

/** The body is the file itself. */
const JobArtifactUploadQuery = LeaseQuery.extend({
  digest: Digest.meta({ description: "SHA-256 of the body" }),
});

const byJobId = z.object({ id: idSchema("job") });
const byArtifact = byJobId.extend({ name: JobArtifactName.meta({ description: "What the file is of the job" }) });

/** Routes of the files that jobs leave beside their results. */
export const artifactEndpoints = {
  putJobArtifact: defineEndpoint({
    method: "put",
    path: "/v1/link/jobs/{id}/artifacts/{name}",
    tag: "runners",
    summary: "Leave a file for a job, as the runner that holds its lease",
    description: "The latest of a name is kept. The same again changes nothing.",
    access: "runner",
    params: byArtifact,
    query: JobArtifactUploadQuery,
    rawBody: { mediaTypes: ARTIFACT_MEDIA_TYPES, maxBytes: LIMITS.jobArtifactBytes },
    reply: { status: 200, schema: JobArtifact },
    problems: ["not-found", "conflict", "quota-exceeded"],
  }),
  fetchJobArtifact: defineEndpoint({
    method: "get",
    path: "/v1/link/jobs/{id}/artifacts/{name}",
    tag: "runners",
    summary: "Fetch a file that a job has by now, as the runner that holds its lease",
    access: "runner",
    params: byArtifact,
    query: LeaseQuery,
    reply: {
      status: 200,
      mediaType: "application/octet-stream",
      cached: "ranges",
      alsoAs: ARTIFACT_MEDIA_TYPES.slice(1),
    },
    problems: ["not-found"],
  }),
  listJobArtifacts: defineEndpoint({
    method: "get",
    path: "/v1/jobs/{id}/artifacts",
    tag: "jobs",
    summary: "List the files that a job left beside its result, or has left by now",
    access: "read",
    asksQueue: true,
    params: byJobId,
    reply: { status: 200, schema: JobArtifactList },
    problems: ["not-found"],
  }),
  getJobArtifact: defineEndpoint({
    method: "get",
    path: "/v1/jobs/{id}/artifacts/{name}",
    tag: "jobs",
    summary: "Fetch a file of a job; takes `Range` and `If-None-Match`",
    access: "read",
    params: byArtifact,
    reply: {
      status: 200,
      mediaType: "application/octet-stream",
      cached: "ranges",
      alsoAs: ARTIFACT_MEDIA_TYPES.slice(1),
    },
    problems: ["not-found"],
  }),
} as const;
