import { z } from "@hono/zod-openapi";
import { Alert, AlertAction, AlertActionInput, AlertDetail, AlertPage, AlertQuery } from "./alert.ts";
import { ChangesQuery, ChangesReply, Detection, DetectionInput } from "./detection.ts";
import { defineEndpoint } from "./endpoint.ts";
import { idSchema } from "./id.ts";
import { PageQuery } from "./page.ts";
import { Threshold, ThresholdInput, ThresholdPage, ThresholdTrial, ThresholdTrialInput } from "./threshold.ts";

const byThresholdId = z.object({ id: idSchema("threshold") });
const byAlertId = z.object({ id: idSchema("alert") });
const ifMatch = z.object({ "if-match": z.string().max(64).optional() });

/** What the history tells by itself: rules, changes, alerts. */
export const alertEndpoints = {
  createThreshold: defineEndpoint({
    method: "post",
    path: "/v1/history/thresholds",
    tag: "alerts",
    summary: "Create a rule by which points of the selected series are judged",
    access: "submit",
    body: ThresholdInput,
    reply: { status: 201, schema: Threshold },
    problems: ["conflict"],
  }),
  testThreshold: defineEndpoint({
    method: "post",
    path: "/v1/history/thresholds/test",
    tag: "alerts",
    summary: "Tell what a rule would have said over the history of a series; nothing is stored",
    access: "submit",
    body: ThresholdTrialInput,
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
  detectChanges: defineEndpoint({
    method: "post",
    path: "/v1/history/detections",
    tag: "alerts",
    summary: "Search whole series for changes now, and judge them by the rules that select them",
    access: "submit",
    body: DetectionInput,
    reply: { status: 200, schema: Detection },
  }),
  listChanges: defineEndpoint({
    method: "get",
    path: "/v1/history/changes",
    tag: "alerts",
    summary: "What happened to a series: changes, spikes, other hardware",
    access: "read",
    query: ChangesQuery,
    reply: { status: 200, schema: ChangesReply },
    problems: ["not-found"],
  }),
  listAlerts: defineEndpoint({
    method: "get",
    path: "/v1/history/alerts",
    tag: "alerts",
    summary: "List alerts, newest first",
    access: "read",
    query: AlertQuery,
    reply: { status: 200, schema: AlertPage },
  }),
  getAlert: defineEndpoint({
    method: "get",
    path: "/v1/history/alerts/{id}",
    tag: "alerts",
    summary: "Describe an alert, with its changes, what they rest on, and its neighbours",
    access: "read",
    params: byAlertId,
    reply: { status: 200, schema: AlertDetail },
    problems: ["not-found"],
  }),
  changeAlert: defineEndpoint({
    method: "post",
    path: "/v1/history/alerts/{id}/{action}",
    tag: "alerts",
    summary: "Acknowledge, dismiss, resolve or reopen an alert, with a note",
    description: "If-Match with its ETag is honoured where it is sent.",
    access: "submit",
    params: byAlertId.extend({ action: AlertAction }),
    headers: ifMatch,
    body: AlertActionInput,
    reply: { status: 200, schema: Alert },
    problems: ["not-found", "conflict", "precondition-failed"],
  }),
} as const;
