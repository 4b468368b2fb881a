import { z } from "@hono/zod-openapi";
import { NoiseQuery, NoiseReply, SeriesDetail } from "./detection.ts";
import { defineEndpoint } from "./endpoint.ts";
import { PointsQuery, PointsReply } from "./history.ts";
import { idSchema } from "./id.ts";
import { PredictionCalibration, PredictionCalibrationQuery } from "./prediction-calibration.ts";
import { SeriesPage, SeriesQuery } from "./series.ts";

const bySeriesId = z.object({ id: idSchema("series") });

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
  getSeries: defineEndpoint({
    method: "get",
    path: "/v1/history/series/{id}",
    tag: "history",
    summary: "Describe a series, and the same on other hardware before it and after",
    access: "read",
    params: bySeriesId,
    reply: { status: 200, schema: SeriesDetail },
    problems: ["not-found"],
  }),
  getSeriesNoise: defineEndpoint({
    method: "get",
    path: "/v1/history/series/{id}/noise",
    tag: "history",
    summary: "How noisy a series is, the smallest change that it could show, and how many runs a change needs",
    access: "read",
    params: bySeriesId,
    query: NoiseQuery,
    reply: { status: 200, schema: NoiseReply },
    problems: ["not-found"],
  }),
  muteSeries: defineEndpoint({
    method: "post",
    path: "/v1/history/series/{id}/mute",
    tag: "history",
    summary: "Mute a series: its further changes alert nobody",
    access: "submit",
    params: bySeriesId,
    reply: { status: 200, schema: SeriesDetail },
    problems: ["not-found"],
  }),
  unmuteSeries: defineEndpoint({
    method: "post",
    path: "/v1/history/series/{id}/unmute",
    tag: "history",
    summary: "Let the changes of a series alert again",
    access: "submit",
    params: bySeriesId,
    reply: { status: 200, schema: SeriesDetail },
    problems: ["not-found"],
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
