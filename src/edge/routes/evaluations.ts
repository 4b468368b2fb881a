import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { compareEvaluations } from "../evaluation/compare-evaluations.ts";
import { findEvaluation } from "../evaluation/episodes-of.ts";
import { episodesToTable } from "../evaluation/episodes-to-table.ts";
import { pageEpisodes } from "../evaluation/page-episodes.ts";
import { answerOnce } from "../http/answer-once.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { decodeCursor } from "../store/cursor.ts";

/** What evaluations found: each episode, and one against another. */
export function bindEvaluations(app: Hono<AppEnv>): void {
  bind(app, endpoints.listEpisodes, async ({ c, env, params, query }) => {
    const place = query.cursor === undefined ? null : Number(decodeCursor(query.cursor, 1)[0]);
    const run = await findEvaluation(env, params.id);
    // A run never changes.
    return answerOnce(c, run.id, async () => ({ body: await pageEpisodes(env, run, query, place) }), episodesToTable);
  });
  bind(app, endpoints.compareEvaluations, ({ c, env, query }) =>
    answerOnce(c, query, async () => ({ body: await compareEvaluations(env, query) })),
  );
}
