import { LIMITS } from "../wire/limits.ts";
import { ReportInput, ReportQuery, ReportReply } from "./report.ts";
import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { idSchema } from "../wire/id.ts";
import { Run, RunSamples } from "./run.ts";

const byRunId = z.object({ id: idSchema("run") });

export const runEndpoints = {
  getRun: defineEndpoint({
    method: "get",
    path: "/v1/runs/{id}",
    tag: "history",
    summary: "Describe a run: a job's that ended well, kept when the job is forgotten, or one that was reported",
    access: "read",
    params: byRunId,
    reply: { status: 200, schema: Run },
    problems: ["not-found"],
  }),
  getRunTrace: defineEndpoint({
    method: "get",
    path: "/v1/runs/{id}/trace",
    tag: "history",
    summary: "The trace of a run, where its benchmark asked for one: opens in Perfetto and chrome://tracing",
    access: "read",
    params: byRunId,
    reply: { status: 200, mediaType: "application/json" },
    problems: ["not-found"],
  }),
  getRunSamples: defineEndpoint({
    method: "get",
    path: "/v1/runs/{id}/samples",
    tag: "history",
    summary: "The raw samples of a run, where they were kept",
    access: "read",
    params: byRunId,
    reply: { status: 200, schema: RunSamples },
    problems: ["not-found"],
  }),
  reportPoints: defineEndpoint({
    method: "post",
    path: "/v1/history/points",
    tag: "history",
    summary: "Report what was measured outside: in our form, or as a benchmark tool wrote it",
    description:
      "The points are stored when the reply comes. The same run with the same content again gives the run that is " +
      "there already, with status 200. See docs/guides/gating-a-pull-request.md for the tools.",
    access: "submit",
    query: ReportQuery,
    body: ReportInput,
    rawBody: { mediaTypes: ["application/json", "application/x-ndjson"], maxBytes: LIMITS.reportBodyBytes },
    repeatable: "as-it-is",
    reply: { status: 201, schema: ReportReply },
    problems: ["conflict", "quota-exceeded"],
  }),
} as const;
