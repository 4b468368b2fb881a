import { z } from "zod";
import { Baseline, BaselineInput, BaselinePage, CompareQuery, ComparisonReply } from "./comparison.ts";
import { defineEndpoint } from "../endpoint.ts";
import { IfMatch, Name, PageQuery } from "../wire/page.ts";

const byBaselineName = z.object({ name: Name.meta({ description: "Name of a baseline" }) });
const ifMatch = z.object({ "if-match": IfMatch });

/** Comparisons, and the baselines that they rest on. */
export const comparisonEndpoints = {
  compareSeries: defineEndpoint({
    method: "get",
    path: "/v1/history/compare",
    tag: "history",
    summary: "Compare B with A: runs, labels, windows, devices, revisions or a baseline, series by series",
    access: "read",
    isHeavy: true,
    query: CompareQuery,
    reply: { status: 200, schema: ComparisonReply },
    problems: ["not-found"],
  }),
  listBaselines: defineEndpoint({
    method: "get",
    path: "/v1/history/baselines",
    tag: "history",
    summary: "List pinned baselines by name",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: BaselinePage },
  }),
  getBaseline: defineEndpoint({
    method: "get",
    path: "/v1/history/baselines/{name}",
    tag: "history",
    summary: "Describe a pinned baseline",
    access: "read",
    params: byBaselineName,
    reply: { status: 200, schema: Baseline },
    problems: ["not-found"],
  }),
  pinBaseline: defineEndpoint({
    method: "put",
    path: "/v1/history/baselines/{name}",
    tag: "history",
    summary: "Pin a baseline: a run, a label, a window; to move one wants If-Match with its ETag",
    access: "submit",
    params: byBaselineName,
    headers: ifMatch,
    body: BaselineInput,
    reply: { status: 201, schema: Baseline },
    problems: ["precondition-required", "precondition-failed", "quota-exceeded"],
  }),
  deleteBaseline: defineEndpoint({
    method: "delete",
    path: "/v1/history/baselines/{name}",
    tag: "history",
    summary: "Unpin a baseline",
    access: "submit",
    params: byBaselineName,
    reply: { status: 204 },
    problems: ["not-found"],
  }),
} as const;
