import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { compareSides } from "../history/compare/compare-sides.ts";
import { addUpForecasts } from "../history/query/add-up-forecasts.ts";
import { askPoints, askSeries } from "../history/query/ask-series.ts";
import { chooseStep, drawHeatmap } from "../history/query/heatmap.ts";
import { askedSpan } from "../history/query/history-window.ts";
import { parseStepMs } from "../history/query/merge-parts.ts";
import { queryGroups, rankGroups, readScaling } from "../history/query/query-groups.ts";
import {
  groupsToTable,
  leaderboardToTable,
  pointsToTable,
  scalingToTable,
  seriesToTable,
} from "../history/query/to-table.ts";
import { widenSpan } from "../history/rollup/read-history.ts";
import { answerOnce } from "../http/answers.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { eTagOf, isMatch, missingMatch, staleMatch, withETag } from "../http/version-tag.ts";
import { openProject } from "../store/database.ts";
import {
  createBaseline,
  deleteBaseline,
  findBaseline,
  listBaselines,
  updateBaseline,
} from "../store/history/baseline-store.ts";
import { quotaExceeded } from "../store/quotas/quota-problem.ts";
import { listSeries } from "../store/history/series-store.ts";
import { readForecastSums } from "../store/history/total-store.ts";

/** Comparisons of parts of the history, and named baselines. */
export function bindComparisons(app: Hono<AppEnv>): void {
  bind(app, endpoints.compareSeries, ({ env, query }) => compareSides(env, query));
  bind(app, endpoints.listBaselines, ({ env, query }) => listBaselines(openProject(env), query));

  bind(app, endpoints.getBaseline, async ({ env, params }) => {
    const baseline = await findBaseline(openProject(env), params.name);
    if (baseline === null) throw new ProblemError("not-found", `There is no baseline ${params.name}.`);
    return withETag(baseline, 200);
  });

  bind(app, endpoints.pinBaseline, async ({ env, params: { name }, headers, body }) => {
    const db = openProject(env);
    const wanted = headers["if-match"];
    const created = wanted === undefined ? await createBaseline(db, name, body) : null;
    if (created !== null) return withETag(created, 201);
    const found = await findBaseline(db, name);
    if (wanted === undefined && found === null) throw await quotaExceeded(env, { baselines: 1 });
    if (wanted === undefined)
      throw missingMatch("baseline", `There is a baseline ${name} already: to move it, send If-Match.`);
    const isCurrent = found !== null && isMatch(wanted, found);
    const updated = isCurrent ? await updateBaseline(db, name, found.version, body) : null;
    if (updated === null) {
      const why = found === null ? "names a baseline that is not there" : `is not the current ETag ${eTagOf(found)}`;
      throw staleMatch("baseline", why);
    }
    return withETag(updated, 200);
  });

  bind(app, endpoints.deleteBaseline, async ({ env, params }) => {
    const gone = await deleteBaseline(openProject(env), params.name);
    if (!gone) throw new ProblemError("not-found", `There is no baseline ${params.name}.`);
    return new Response(null, { status: 204 });
  });
}

/** Queries of several series at once. */
export function bindHistoryQueries(app: Hono<AppEnv>): void {
  bind(app, endpoints.queryHistory, async ({ c, env, query }) => {
    const asked = await askSeries(env, query, Date.now());
    return answerOnce(c, asked.state, () => queryGroups(env.DB, asked, query), groupsToTable);
  });

  bind(app, endpoints.readHeatmap, async ({ c, env, query }) => {
    const nowMs = Date.now();
    const { fromMs, toMs } = askedSpan(query, nowMs);
    const step = query.step ?? chooseStep(toMs - fromMs);
    const asked = await askSeries(env, { ...query, step }, nowMs);
    return answerOnce(c, asked.state, () => drawHeatmap(env.DB, asked, query, step));
  });

  bind(app, endpoints.readScaling, async ({ c, env, query }) => {
    const asked = await askSeries(env, query, Date.now());
    return answerOnce(c, asked.state, () => readScaling(env.DB, asked, query), scalingToTable);
  });

  bind(app, endpoints.readHistoryLeaderboard, async ({ c, env, query }) => {
    const asked = await askSeries(env, query, Date.now());
    return answerOnce(c, asked.state, () => rankGroups(env.DB, asked, query), leaderboardToTable);
  });
}

/** Default span of predictions to judge. */
const CALIBRATION_MS = 86_400_000;

export function bindHistory(app: Hono<AppEnv>): void {
  bind(app, endpoints.listSeries, async ({ c, env, query }) => {
    // The page is its own state: to find a change costs as much as to read the page.
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
    // The newest sums come first; the step at the cut is left out with all earlier ones.
    const cutAtMs = sums[LIMITS.historyPoints]?.stepAtMs ?? Number.NEGATIVE_INFINITY;
    const whole = sums.filter(({ stepAtMs }) => stepAtMs > cutAtMs);
    const body = { items: addUpForecasts(whole), truncated: whole.length < sums.length };
    return answerOnce(c, body, async () => ({ body }));
  });
}
