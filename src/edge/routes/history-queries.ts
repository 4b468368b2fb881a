import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { askSeries } from "../history/ask-series.ts";
import { queryGroups } from "../history/query-groups.ts";
import { answerOnce } from "../http/answer-once.ts";
import { type AppEnv, bind } from "../http/bind.ts";

/** Questions to several series at once. */
export function bindHistoryQueries(app: Hono<AppEnv>): void {
  bind(app, endpoints.queryHistory, async ({ c, env, query }) => {
    const asked = await askSeries(env, query, Date.now());
    return answerOnce(c, asked.state, () => queryGroups(env.DB, asked, query));
  });
}
