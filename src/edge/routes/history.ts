import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { addUpForecasts } from "../history/add-up-forecasts.ts";
import { mergePoints, parseStepMs } from "../history/merge-points.ts";
import { readHistory, widenSpan } from "../history/read-history.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openDatabase } from "../store/database.ts";
import { listSeries, readSelection, toSeries } from "../store/series-store.ts";
import { readForecastSums } from "../store/total-store.ts";

/** The last instant that a date can hold. */
const LAST_MS = 8.64e15;
/** How far back predictions are judged unless told. */
const CALIBRATION_MS = 86_400_000;

export function bindHistory(app: Hono<AppEnv>): void {
  bind(app, endpoints.listSeries, ({ env, query }) => listSeries(openDatabase(env.DB), query));

  bind(app, endpoints.listPoints, async ({ env, query }) => {
    const selection = await readSelection(openDatabase(env.DB), { series: [query.series] }, 1);
    const [series] = selection.series;
    if (series === undefined) {
      const errors = [{ pointer: "query/series", message: "is not a series" }];
      throw new ProblemError("not-found", `There is no series ${query.series}.`, { errors });
    }
    const span = {
      fromMs: query.from === undefined ? 0 : Date.parse(query.from),
      toMs: query.to === undefined ? LAST_MS : Date.parse(query.to),
    };
    const stepMs = query.step === undefined ? null : parseStepMs(query.step);
    const limit = stepMs === null ? query.limit : LIMITS.historyPoints;
    const { buckets, truncated } = await readHistory(env.DB, [series.no], span, stepMs, limit);
    const points = await mergePoints(buckets, stepMs, query);
    return {
      series: toSeries(series),
      points: points.slice(-query.limit),
      truncated: truncated || points.length > query.limit,
    };
  });

  bind(app, endpoints.readPredictionCalibration, async ({ env, query }) => {
    const toMs = query.to === undefined ? Date.now() + 1 : Date.parse(query.to);
    const fromMs = query.from === undefined ? toMs - CALIBRATION_MS : Date.parse(query.from);
    const stepMs = parseStepMs(query.step);
    const span = widenSpan({ fromMs, toMs }, stepMs);
    const sums = await readForecastSums(env.DB, query, span, stepMs, LIMITS.historyPoints);
    // The newest stand first; the step that the cut goes through is left out with those before it.
    const cutAtMs = sums[LIMITS.historyPoints]?.stepAtMs ?? Number.NEGATIVE_INFINITY;
    const whole = sums.filter(({ stepAtMs }) => stepAtMs > cutAtMs);
    return { items: addUpForecasts(whole), truncated: whole.length < sums.length };
  });
}
