import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { askSeries } from "../history/ask-series.ts";
import { chooseStep, drawHeatmap } from "../history/heatmap.ts";
import { askedSpan } from "../history/history-window.ts";
import { queryGroups } from "../history/query-groups.ts";
import { rankGroups } from "../history/rank-groups.ts";
import { readScaling } from "../history/scaling.ts";
import { groupsToTable, leaderboardToTable, scalingToTable } from "../history/to-table.ts";
import { answerOnce } from "../http/answer-once.ts";
import { type AppEnv, bind } from "../http/bind.ts";

/** Questions to several series at once. */
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
