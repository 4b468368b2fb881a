import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { Threshold, ThresholdInput, ThresholdTrial } from "../../protocol/threshold.ts";
import type { ProjectEnv } from "../config.ts";
import { judgePoints } from "../history/detect/judge-points.ts";
import { readSeriesPoints } from "../history/detect/read-series-points.ts";
import { resolutionOf, statisticOf } from "../history/detect/statistic-of.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { eTagOf, isMatch, missingMatch, staleMatch, withETag } from "../http/version-tag.ts";
import { openProject } from "../store/database.ts";
import { toInstant } from "../store/instant.ts";
import { ALL_TIME } from "../store/rollup-store.ts";
import type { StoredPoint } from "../store/point-store.ts";
import { findStoredSeries } from "../store/series-store.ts";
import {
  createThreshold,
  deleteThreshold,
  findThreshold,
  listThresholds,
  updateThreshold,
} from "../store/threshold-store.ts";

export function bindThresholds(app: Hono<AppEnv>): void {
  bind(app, endpoints.createThreshold, async ({ env, body }) => {
    const threshold = await createThreshold(openProject(env), body);
    if (threshold === null)
      throw new ProblemError("conflict", `There are ${LIMITS.thresholds} thresholds already: delete one first.`);
    return withETag(threshold, 201);
  });
  bind(app, endpoints.testThreshold, async ({ env, body }) => {
    const series = await findStoredSeries(openProject(env), body.series);
    if (series === null)
      throw new ProblemError("not-found", `There is no series ${body.series}.`, {
        errors: [{ pointer: "#/series", message: "is not a series" }],
      });
    const read = await readSeriesPoints(env.DB, series.no, ALL_TIME, LIMITS.historyPoints, Date.now());
    return { ...tryThreshold(read.points, body.threshold, series.direction), truncated: read.truncated };
  });
  bind(app, endpoints.listThresholds, ({ env, query }) => listThresholds(openProject(env), query));
  bind(app, endpoints.getThreshold, async ({ env, params }) => withETag(await mustFind(env, params.id), 200));
  bind(app, endpoints.updateThreshold, async ({ env, params, headers, body }) => {
    const found = await mustFind(env, params.id);
    const wanted = headers["if-match"];
    if (wanted === undefined) throw missingMatch("threshold");
    const updated = isMatch(wanted, found)
      ? await updateThreshold(openProject(env), found.id, found.version, body)
      : null;
    if (updated === null) throw staleMatch("threshold", `is not the current ETag ${eTagOf(found)}`);
    return withETag(updated, 200);
  });
  bind(app, endpoints.deleteThreshold, async ({ env, params }) => {
    if (!(await deleteThreshold(openProject(env), params.id))) throw noThreshold(params.id);
    return new Response(null, { status: 204 });
  });
}

function tryThreshold(
  points: readonly StoredPoint[],
  rule: ThresholdInput,
  direction: "lower" | "higher",
): Omit<ThresholdTrial, "truncated"> {
  const values = points.map((point) => statisticOf(point, rule.statistic));
  const noiseFloor = Math.max(rule.noiseFloor, resolutionOf(points, rule.statistic));
  const { judgements, episodes } = judgePoints(values, rule, { direction, noiseFloor });
  const at = (index: number) => toInstant(points[index]?.atMs ?? 0);
  return {
    points: judgements.map(({ verdict, baseline, lowerLimit, upperLimit }, index) => {
      const { runId = null, revision = null } = points[index] ?? {};
      const value = values[index] ?? Number.NaN;
      return { at: at(index), value, verdict, baseline, lowerLimit, upperLimit, runId, revision };
    }),
    alerts: episodes.map(({ direction: side, start, returned }) => ({
      direction: side,
      at: at(start),
      returnedAt: returned === null ? null : at(returned),
    })),
  };
}

async function mustFind(env: ProjectEnv, id: string): Promise<Threshold> {
  const threshold = await findThreshold(openProject(env), id);
  if (threshold === null) throw noThreshold(id);
  return threshold;
}

function noThreshold(id: string): ProblemError {
  return new ProblemError("not-found", `There is no threshold ${id}.`);
}
