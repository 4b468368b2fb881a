import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { idSchema } from "../wire/id.ts";
import { IfMatch, PageQuery } from "../wire/page.ts";
import { Threshold, ThresholdInput, ThresholdPage, ThresholdTrial, ThresholdTrialInput } from "./threshold.ts";

const byThresholdId = z.object({ id: idSchema("threshold") });
const ifMatch = z.object({ "if-match": IfMatch });

/** Rules by which points are judged. */
export const thresholdEndpoints = {
  createThreshold: defineEndpoint({
    method: "post",
    path: "/v1/history/thresholds",
    tag: "alerts",
    summary: "Create a rule by which points of the selected series are judged",
    access: "submit",
    body: ThresholdInput,
    reply: { status: 201, schema: Threshold },
    problems: ["quota-exceeded"],
  }),
  testThreshold: defineEndpoint({
    method: "post",
    path: "/v1/history/thresholds/test",
    tag: "alerts",
    summary: "Tell what a rule would have said over the history of a series; nothing is stored",
    access: "submit",
    isHeavy: true,
    body: ThresholdTrialInput,
    repeatable: "as-it-is",
    reply: { status: 200, schema: ThresholdTrial },
    problems: ["not-found"],
  }),
  listThresholds: defineEndpoint({
    method: "get",
    path: "/v1/history/thresholds",
    tag: "alerts",
    summary: "List rules, newest first",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: ThresholdPage },
  }),
  getThreshold: defineEndpoint({
    method: "get",
    path: "/v1/history/thresholds/{id}",
    tag: "alerts",
    summary: "Describe a rule",
    access: "read",
    params: byThresholdId,
    reply: { status: 200, schema: Threshold },
    problems: ["not-found"],
  }),
  updateThreshold: defineEndpoint({
    method: "put",
    path: "/v1/history/thresholds/{id}",
    tag: "alerts",
    summary: "Replace a rule; wants If-Match with its ETag",
    access: "submit",
    params: byThresholdId,
    headers: ifMatch,
    body: ThresholdInput,
    reply: { status: 200, schema: Threshold },
    problems: ["not-found", "precondition-failed", "precondition-required"],
  }),
  deleteThreshold: defineEndpoint({
    method: "delete",
    path: "/v1/history/thresholds/{id}",
    tag: "alerts",
    summary: "Delete a rule; its alerts stay",
    access: "submit",
    params: byThresholdId,
    reply: { status: 204 },
    problems: ["not-found"],
  }),
} as const;
