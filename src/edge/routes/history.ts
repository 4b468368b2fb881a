import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { mergePoints, parseStepMs } from "../history/merge-points.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openDatabase } from "../store/database.ts";
import { findSeries, listSeries, readPoints } from "../store/series-store.ts";

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
}
