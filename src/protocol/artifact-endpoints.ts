import { z } from "@hono/zod-openapi";
import { defineEndpoint } from "./endpoint.ts";
import { idSchema } from "./id.ts";
import {
  ARTIFACT_MEDIA_TYPES,
  JobArtifact,
  JobArtifactList,
  JobArtifactName,
  JobArtifactUploadQuery,
  LeaseQuery,
} from "./job-artifact.ts";
import { LIMITS } from "./limits.ts";

const byJobId = z.object({ id: idSchema("job") });
const byArtifact = byJobId.extend({ name: JobArtifactName.openapi({ description: "What the file is of the job" }) });

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
    problems: ["not-found", "conflict", "payload-too-large", "unsupported-media-type"],
  }),
  fetchJobArtifact: defineEndpoint({
    method: "get",
    path: "/v1/link/jobs/{id}/artifacts/{name}",
    tag: "runners",
    summary: "Fetch a file that a job has by now, as the runner that holds its lease",
    access: "runner",
    params: byArtifact,
    query: LeaseQuery,
    reply: { status: 200, mediaType: "application/octet-stream" },
    problems: ["not-found"],
  }),
  listJobArtifacts: defineEndpoint({
    method: "get",
    path: "/v1/jobs/{id}/artifacts",
    tag: "jobs",
    summary: "List the files that a job left beside its result, or has left by now",
    access: "read",
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
    reply: { status: 200, mediaType: "application/octet-stream" },
    problems: ["not-found"],
  }),
} as const;
