import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { addUpForecasts } from "../history/add-up-forecasts.ts";
import { mergePoints, parseStepMs } from "../history/merge-points.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openDatabase } from "../store/database.ts";
import { findSeries, listSeries, readForecastSums, readPoints } from "../store/series-store.ts";

/** How far back predictions are judged unless told. */
const CALIBRATION_MS = 86_400_000;

export function bindHistory(app: Hono<AppEnv>): void {
  bind(app, endpoints.listSeries, ({ env, query }) => listSeries(openDatabase(env.DB), query));

  bind(app, endpoints.listPoints, async ({ env, query }) => {
    const db = openDatabase(env.DB);
    const series = await findSeries(db, query.series);
    if (series === null) {
      const errors = [{ pointer: "query/series", message: "is not a series" }];
      throw new ProblemError("not-found", `There is no series ${query.series}.`, { errors });
    }
    const fromMs = query.from === undefined ? 0 : Date.parse(query.from);
    const toMs = query.to === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(query.to);
    const stepMs = query.step === undefined ? null : parseStepMs(query.step);
    const stored = await readPoints(
      db,
      query.series,
      fromMs,
      toMs,
      stepMs === null ? query.limit : LIMITS.historyPoints,
    );
    const truncated = stored.length > (stepMs === null ? query.limit : LIMITS.historyPoints);
    const points = mergePoints(truncated ? stored.slice(1) : stored, stepMs, query.percentiles);
    return { series, points: points.slice(-query.limit), truncated: truncated || points.length > query.limit };
  });

  bind(app, endpoints.readPredictionCalibration, async ({ env, query }) => {
    const toMs = query.to === undefined ? Date.now() + 1 : Date.parse(query.to);
    const fromMs = query.from === undefined ? toMs - CALIBRATION_MS : Date.parse(query.from);
    const span = { fromMs, toMs, stepMs: parseStepMs(query.step) };
    const sums = await readForecastSums(openDatabase(env.DB), query, span, LIMITS.historyPoints);
    // The newest stand first; the step that the cut goes through is left out with those before it.
    const cutAtMs = sums[LIMITS.historyPoints]?.stepAtMs ?? Number.NEGATIVE_INFINITY;
    const whole = sums.filter(({ stepAtMs }) => stepAtMs > cutAtMs);
    return { items: addUpForecasts(whole), truncated: whole.length < sums.length };
  });
}
