import { defineEndpoint } from "./endpoint.ts";
import { PointsQuery, PointsReply } from "./history.ts";
import { HistoryQuery, HistoryQueryReply } from "./history-query.ts";
import { LIMITS } from "./limits.ts";
import { PredictionCalibration, PredictionCalibrationQuery } from "./prediction-calibration.ts";
import { ReportInput, ReportQuery, ReportReply } from "./report.ts";
import { SeriesPage, SeriesQuery } from "./series.ts";

/** The memory: series, their points, and what is read from them. */
export const historyEndpoints = {
  listSeries: defineEndpoint({
    method: "get",
    path: "/v1/history/series",
    tag: "history",
    summary: "Find series by any of their dimensions, newest first",
    access: "read",
    query: SeriesQuery,
    reply: { status: 200, schema: SeriesPage },
  }),
  listPoints: defineEndpoint({
    method: "get",
    path: "/v1/history/points",
    tag: "history",
    summary: "A series over time, merged by step, with any percentiles",
    access: "read",
    query: PointsQuery,
    reply: { status: 200, schema: PointsReply },
    problems: ["not-found"],
  }),
  reportPoints: defineEndpoint({
    method: "post",
    path: "/v1/history/points",
    tag: "history",
    summary: "Report what was measured outside: in our form, or as a benchmark tool wrote it",
    description:
      "The points are stored when the reply comes. The same run with the same content again gives the run that is " +
      "there already, with status 200. See docs/protocol.md for the tools.",
    access: "submit",
    query: ReportQuery,
    body: ReportInput,
    rawBody: { mediaTypes: ["application/json", "application/x-ndjson"], maxBytes: LIMITS.reportBodyBytes },
    reply: { status: 201, schema: ReportReply },
    problems: ["conflict"],
  }),
  queryHistory: defineEndpoint({
    method: "get",
    path: "/v1/history/query",
    tag: "history",
    summary: "Several series at once over time or as a whole, merged by device, variant, batch or any other dimension",
    access: "read",
    query: HistoryQuery,
    reply: { status: 200, schema: HistoryQueryReply },
  }),
  readPredictionCalibration: defineEndpoint({
    method: "get",
    path: "/v1/history/calibration",
    tag: "history",
    summary: "Of the requests that were predicted to be in time, how many were, by placement and confidence",
    access: "read",
    query: PredictionCalibrationQuery,
    reply: { status: 200, schema: PredictionCalibration },
  }),
} as const;
