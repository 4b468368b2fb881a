import { z } from "zod";
import { defineEndpoint, EVENT_STREAM } from "../endpoint.ts";
import { idSchema } from "../wire/id.ts";
import { CompressionRequest } from "./compression.ts";
import { Job, JobInput, JobListQuery, JobPage } from "./job.ts";
import { IdempotencyKey } from "../wire/page.ts";

const byModel = z.object({ model: z.string().min(1).max(128).meta({ description: "Name or id of a model" }) });
const byJobId = z.object({ id: idSchema("job") });
const idempotencyKey = z.object({ "idempotency-key": IdempotencyKey });

export const jobEndpoints = {
  createJob: defineEndpoint({
    method: "post",
    path: "/v1/jobs",
    tag: "jobs",
    summary: "Queue a job; with an Idempotency-Key, sending it again gives the same job",
    access: "submit",
    asksQueue: true,
    headers: idempotencyKey,
    body: JobInput,
    repeatable: "by-key",
    reply: { status: 202, schema: Job },
    problems: [
      "unknown-kernel",
      "kernel-invalid",
      "kernel-quarantined",
      "idempotency-key-reused",
      "queue-full",
      "quota-exceeded",
    ],
  }),
  createVariant: defineEndpoint({
    method: "post",
    path: "/v1/models/{model}/variants",
    tag: "models",
    summary: "Queue a compression: a runner makes a smaller variant of a version and measures how good it is",
    description: "The same as `POST /v1/jobs` with the kind `compression`.",
    access: "submit",
    asksQueue: true,
    params: byModel,
    headers: idempotencyKey,
    body: CompressionRequest,
    repeatable: "by-key",
    reply: { status: 202, schema: Job },
    problems: ["not-found", "idempotency-key-reused", "queue-full", "quota-exceeded"],
  }),
  listJobs: defineEndpoint({
    method: "get",
    path: "/v1/jobs",
    tag: "jobs",
    summary: "List jobs, newest first",
    access: "read",
    asksQueue: true,
    query: JobListQuery,
    reply: { status: 200, schema: JobPage },
  }),
  getJob: defineEndpoint({
    method: "get",
    path: "/v1/jobs/{id}",
    tag: "jobs",
    summary: "Describe a job, with its result once it has one",
    access: "read",
    asksQueue: true,
    params: byJobId,
    reply: { status: 200, schema: Job },
    problems: ["not-found"],
  }),
  streamJobEvents: defineEndpoint({
    method: "get",
    path: "/v1/jobs/{id}/events",
    tag: "jobs",
    summary: "A job's events as server-sent events; ends when the job has ended",
    description: "`Last-Event-ID` resumes behind an event that was seen.",
    access: "read",
    asksQueue: true,
    params: byJobId,
    reply: { status: 200, mediaType: EVENT_STREAM },
    problems: ["not-found", "overloaded"],
  }),
  cancelJob: defineEndpoint({
    method: "post",
    path: "/v1/jobs/{id}/cancel",
    tag: "jobs",
    summary: "Cancel a job; a job that has ended stays as it is",
    access: "submit",
    asksQueue: true,
    params: byJobId,
    repeatable: "as-it-is",
    reply: { status: 200, schema: Job },
    problems: ["not-found"],
  }),
} as const;
