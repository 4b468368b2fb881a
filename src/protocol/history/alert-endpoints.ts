import { z } from "zod";
import { Alert, AlertAction, AlertActionInput, AlertDetail, AlertPage, AlertQuery } from "./alert.ts";
import { ChangesQuery, ChangesReply, Detection, DetectionInput } from "./detection.ts";
import { defineEndpoint } from "../endpoint.ts";
import { idSchema } from "../wire/id.ts";
import { IfMatch } from "../wire/page.ts";

const byAlertId = z.object({ id: idSchema("alert") });
const ifMatch = z.object({ "if-match": IfMatch });

/** Findings of the history: changes and alerts. */
export const alertEndpoints = {
  detectChanges: defineEndpoint({
    method: "post",
    path: "/v1/history/detections",
    tag: "alerts",
    summary: "Search whole series for changes now, and judge them by the rules that select them",
    access: "submit",
    isHeavy: true,
    body: DetectionInput,
    reply: { status: 200, schema: Detection },
    problems: ["overloaded"],
  }),
  listChanges: defineEndpoint({
    method: "get",
    path: "/v1/history/changes",
    tag: "alerts",
    summary: "What happened to a series: changes, spikes, other hardware",
    access: "read",
    isHeavy: true,
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
    summary: "Acknowledge, dismiss, mute, resolve or reopen an alert, with a note",
    description:
      "If-Match with its ETag is honoured where it is sent. Only findings are muted so: of changes, mute the series.",
    access: "submit",
    asksQueue: true,
    params: byAlertId.extend({ action: AlertAction.meta({ description: "What is done about the alert" }) }),
    headers: ifMatch,
    body: AlertActionInput,
    reply: { status: 200, schema: Alert },
    problems: ["not-found", "conflict", "precondition-failed"],
  }),
} as const;
