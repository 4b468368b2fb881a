import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { addUpForecasts } from "../history/add-up-forecasts.ts";
import { parseStepMs } from "../history/merge-points.ts";
import { askPoints } from "../history/ask-points.ts";
import { widenSpan } from "../history/read-history.ts";
import { pointsToTable, seriesToTable } from "../history/to-table.ts";
import { answerOnce } from "../http/answer-once.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openProject } from "../store/database.ts";
import { listSeries } from "../store/series-store.ts";
import { readForecastSums } from "../store/total-store.ts";

/** How far back predictions are judged unless told. */
const CALIBRATION_MS = 86_400_000;

export function bindHistory(app: Hono<AppEnv>): void {
  bind(app, endpoints.listSeries, async ({ c, env, query }) => {
    // The page is its own state: it is no more to read than what would tell of a change.
    const page = await listSeries(openProject(env), query);
    return answerOnce(c, page, async () => ({ body: page }), seriesToTable);
  });

  bind(app, endpoints.listPoints, async ({ c, env, query }) => {
    const { state, read } = await askPoints(env, query, Date.now());
    return answerOnce(c, state, read, pointsToTable);
  });

  bind(app, endpoints.readPredictionCalibration, async ({ c, env, query }) => {
    const toMs = query.to === undefined ? Date.now() + 1 : Date.parse(query.to);
    const fromMs = query.from === undefined ? toMs - CALIBRATION_MS : Date.parse(query.from);
    const stepMs = parseStepMs(query.step);
    const span = widenSpan({ fromMs, toMs }, stepMs);
    const sums = await readForecastSums(env, query, span, stepMs, LIMITS.historyPoints);
    // The newest stand first; the step that the cut goes through is left out with those before it.
    const cutAtMs = sums[LIMITS.historyPoints]?.stepAtMs ?? Number.NEGATIVE_INFINITY;
    const whole = sums.filter(({ stepAtMs }) => stepAtMs > cutAtMs);
    const body = { items: addUpForecasts(whole), truncated: whole.length < sums.length };
    return answerOnce(c, body, async () => ({ body }));
  });
}
