import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { answerOnce } from "../http/answer-once.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { readSweep } from "../sweep/read-sweep.ts";
import { readTrade } from "../sweep/read-trade.ts";
import { tradeToTable } from "../sweep/trade-to-table.ts";

/** What calibrations measured, as a decision needs it: batch sizes, and variants. */
export function bindSweeps(app: Hono<AppEnv>): void {
  bind(app, endpoints.getPlacementSweep, ({ env, params, query }) => readSweep(env, params.id, query));

  bind(app, endpoints.getModelTrade, async ({ c, env, params, query }) => {
    const trade = await readTrade(env, params.model, query.version);
    return answerOnce(c, trade, () => Promise.resolve({ body: trade }), tradeToTable);
  });
}
