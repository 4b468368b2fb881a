import { z } from "zod";
import {
  Heatmap,
  HeatmapQuery,
  HistoryLeaderboard,
  HistoryLeaderboardQuery,
  HistoryQuery,
  HistoryQueryReply,
  Scaling,
  ScalingQuery,
} from "./history-query.ts";
import { NoiseQuery, NoiseReply, SeriesDetail } from "./detection.ts";
import { defineEndpoint } from "../endpoint.ts";
import { PointsQuery, PointsReply } from "./history.ts";
import { idSchema } from "../wire/id.ts";
import { PredictionCalibration, PredictionCalibrationQuery } from "./prediction-calibration.ts";
import { SeriesPage, SeriesQuery } from "./series.ts";
import { FLAT_MEDIA_TYPES } from "../wire/table-format.ts";

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
    reply: { status: 200, schema: SeriesPage, alsoAs: FLAT_MEDIA_TYPES, cached: "tag" },
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
    isHeavy: true,
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
    repeatable: "as-it-is",
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
    repeatable: "as-it-is",
    reply: { status: 200, schema: SeriesDetail },
    problems: ["not-found"],
  }),
  listPoints: defineEndpoint({
    method: "get",
    path: "/v1/history/points",
    tag: "history",
    summary: "A series over time, merged by step, with any percentiles",
    access: "read",
    isHeavy: true,
    query: PointsQuery,
    reply: { status: 200, schema: PointsReply, alsoAs: FLAT_MEDIA_TYPES, cached: "tag" },
    problems: ["not-found"],
  }),
  queryHistory: defineEndpoint({
    method: "get",
    path: "/v1/history/query",
    tag: "history",
    summary: "Several series at once over time or as a whole, merged by device, variant, batch or any other dimension",
    access: "read",
    isHeavy: true,
    query: HistoryQuery,
    reply: { status: 200, schema: HistoryQueryReply, alsoAs: FLAT_MEDIA_TYPES, cached: "tag" },
  }),
  readHeatmap: defineEndpoint({
    method: "get",
    path: "/v1/history/heatmap",
    tag: "history",
    summary: "How often which values were measured over time, of one series or several put together",
    access: "read",
    isHeavy: true,
    query: HeatmapQuery,
    reply: { status: 200, schema: Heatmap, cached: "tag" },
  }),
  readScaling: defineEndpoint({
    method: "get",
    path: "/v1/history/scaling",
    tag: "history",
    summary: "How a metric changes with batch size, or with any other configuration that is a number",
    access: "read",
    isHeavy: true,
    query: ScalingQuery,
    reply: { status: 200, schema: Scaling, alsoAs: FLAT_MEDIA_TYPES, cached: "tag" },
  }),
  readHistoryLeaderboard: defineEndpoint({
    method: "get",
    path: "/v1/history/leaderboard",
    tag: "history",
    summary: "Devices, or variants or backends, by the median of what they measured of one kernel or model",
    access: "read",
    isHeavy: true,
    query: HistoryLeaderboardQuery,
    reply: { status: 200, schema: HistoryLeaderboard, alsoAs: FLAT_MEDIA_TYPES, cached: "tag" },
  }),
  readPredictionCalibration: defineEndpoint({
    method: "get",
    path: "/v1/history/calibration",
    tag: "history",
    summary: "Of the requests that were predicted to be in time, how many were, by placement and confidence",
    access: "read",
    isHeavy: true,
    query: PredictionCalibrationQuery,
    reply: { status: 200, schema: PredictionCalibration, cached: "tag" },
  }),
} as const;
