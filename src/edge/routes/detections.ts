import type { Hono } from "hono";
import type { Detection } from "../../protocol/history/detection.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { detectSeries, findAll } from "../history/detect/detect-series.ts";
import { describeNoise, listSpikes } from "../history/detect/inspect-series.ts";
import type { Findings } from "../history/detect/plan-alerts.ts";
import { readSeriesPoints } from "../history/detect/read-series-points.ts";
import { toFoundChange } from "../history/detect/shift.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { readChangesOf } from "../store/history/alert-store.ts";
import { openProject } from "../store/database.ts";
import { readHardware, succession } from "../store/history/hardware-store.ts";
import { ALL_TIME } from "../store/history/rollup-store.ts";
import {
  findStoredSeries,
  muteSeries,
  readSelection,
  selectSeries,
  type StoredSeries,
  toSeries,
} from "../store/history/series-store.ts";

/** Latest points that give a series' noise: older ones may no longer describe it. */
const NOISE_POINTS = 200;

export function bindDetections(app: Hono<AppEnv>): void {
  bind(app, endpoints.detectChanges, async ({ env, body }) => {
    const selected = await selectSeries(openProject(env), body.selector, LIMITS.searchedSeries);
    const series = selected.slice(0, LIMITS.searchedSeries);
    const { parameters } = body;
    const task = { series, pointLimit: LIMITS.searchedPoints, parameters, progress: null, nowMs: Date.now() };
    const truncated = selected.length > series.length;
    if (body.dryRun) return { ...tell(await findAll(env, task)), newAlerts: [], truncated };
    const outcome = await detectSeries(env, task);
    if (outcome.kind === "overtaken")
      throw new ProblemError("overloaded", "Other searches kept changing the alerts meanwhile.", {
        retryAfterMs: 1_000,
      });
    const newAlerts = outcome.plan.alerts.filter(({ isNew }) => isNew).map(({ id }) => id);
    return { ...tell(outcome.findings), newAlerts, truncated };
  });

  bind(app, endpoints.getSeries, ({ env, params }) => describeSeries(env, params.id));
  bind(app, endpoints.muteSeries, async ({ env, params }) => {
    await muteSeries(openProject(env), params.id, Date.now());
    return describeSeries(env, params.id);
  });
  bind(app, endpoints.unmuteSeries, async ({ env, params }) => {
    await muteSeries(openProject(env), params.id, null);
    return describeSeries(env, params.id);
  });
  bind(app, endpoints.getSeriesNoise, async ({ env, params, query }) => {
    const series = await mustFind(env, params.id, "path/id");
    const { points } = await readSeriesPoints(env.DB, series.no, ALL_TIME, NOISE_POINTS, Date.now());
    return describeNoise(points, query);
  });

  bind(app, endpoints.listChanges, async ({ env, query }) => {
    const series = await mustFind(env, query.series, "query/series");
    const span = {
      fromMs: query.from === undefined ? ALL_TIME.fromMs : Date.parse(query.from),
      toMs: query.to === undefined ? ALL_TIME.toMs : Date.parse(query.to),
    };
    const [changes, hardware, { points }] = await Promise.all([
      readChangesOf(env.DB, series.no, span),
      readHardware(env.DB, series),
      readSeriesPoints(env.DB, series.no, span, LIMITS.historyPoints, Date.now()),
    ]);
    return { changes, spikes: listSpikes(points, series), hardware };
  });
}

function tell(findings: readonly Findings[]): Pick<Detection, "series" | "items"> {
  const items = findings
    .filter(({ shifts }) => shifts.length > 0)
    .map(({ series, shifts }) => ({ seriesId: series.id, changes: shifts.map(toFoundChange) }));
  return { series: findings.length, items };
}

async function describeSeries(env: ProjectEnv, id: string) {
  const [series] = (await readSelection(openProject(env), { series: [id] }, 1)).series;
  if (series === undefined) throw noSeries(id, "path/id");
  const hardware = await readHardware(env.DB, series);
  return { ...toSeries(series), ...succession(hardware, id), hardware };
}

async function mustFind(env: ProjectEnv, id: string, pointer: string): Promise<StoredSeries> {
  const series = await findStoredSeries(openProject(env), id);
  if (series === null) throw noSeries(id, pointer);
  return series;
}

function noSeries(id: string, pointer: string): ProblemError {
  return new ProblemError("not-found", `There is no series ${id}.`, {
    errors: [{ pointer, message: "is not a series" }],
  });
}
