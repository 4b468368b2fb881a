import type { DetectionParameters } from "../../../protocol/history/detection.ts";
import { createId } from "../../../protocol/wire/id.ts";
import type { Threshold } from "../../../protocol/history/threshold.ts";
import { type Env, jobQueue, scopeEnv } from "../../config.ts";
import { openProject } from "../../store/database.ts";
import {
  type DetectionProgress,
  type DetectionState,
  readDetectionState,
  readKnownAlerts,
  readKnownChanges,
  saveDetection,
  type Shift,
} from "../../store/history/detection-store.ts";
import { ALL_TIME, type Span } from "../../store/history/rollup-store.ts";
import type { StoredSeries } from "../../store/history/series-store.ts";
import { readThresholds } from "../../store/history/threshold-store.ts";
import { findBreaches } from "./find-breaches.ts";
import { findShifts } from "./find-shifts.ts";
import { isSelected, readSeriesPoints } from "./read-series-points.ts";
import { type Findings, type Plan, planAlerts } from "./plan-alerts.ts";
import { defaultStatistic, isCount } from "./shift.ts";
import { prepareAlertDeliveries } from "./alert-deliveries.ts";
import { logFailure } from "../../log-failure.ts";
import { endTurn } from "../../turns.ts";

/** Attempts to store a result while concurrent searches change the alerts. */
const TRIES = 5;

export interface DetectionTask {
  readonly series: readonly StoredSeries[];
  /** Number of latest points of each series to search. */
  readonly pointLimit: number;
  readonly parameters: DetectionParameters;
  readonly progress: DetectionProgress | null;
  readonly nowMs: number;
}

/** Outcome of a task; `overtaken`: others kept changing the alerts meanwhile, and nothing was stored. */
export type DetectionOutcome =
  | { readonly kind: "saved"; readonly findings: readonly Findings[]; readonly plan: Plan }
  | { readonly kind: "overtaken" };

/** Searches series for changes, judges them by the matching rules of their projects, and stores the result. */
export async function detectSeries(env: Env, task: DetectionTask): Promise<DetectionOutcome> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const state = await readDetectionState(env.DB);
    // Another search has seen these points meanwhile.
    if (task.progress !== null && state.detectedSeq >= task.progress.detectedSeq) return { kind: "overtaken" };
    const findings = await findAll(env, task);
    const plan = await planFor(env.DB, findings, task);
    if ((await save(env.DB, state, task, plan)) === "saved") {
      await announce(env, plan);
      return { kind: "saved", findings, plan };
    }
  }
  return { kind: "overtaken" };
}

/** The same search without storing anything. */
export async function findAll(env: Env, task: DetectionTask): Promise<Findings[]> {
  const rulesOf = new Map<string, readonly Threshold[]>();
  for (const { project } of task.series) {
    if (!rulesOf.has(project)) rulesOf.set(project, await readThresholds(openProject(scopeEnv(env, project))));
  }
  const findings: Findings[] = [];
  for (const series of task.series) {
    if (isCount(series)) continue;
    // A series that cannot be searched must not block the others.
    try {
      findings.push(await findIn(env.DB, series, rulesOf.get(series.project) ?? [], task));
    } catch (error) {
      logFailure("detection-failed", error, { series: series.id });
    }
    // To search a series takes milliseconds.
    await endTurn();
  }
  return findings;
}

async function findIn(
  binding: D1Database,
  series: StoredSeries,
  rules: readonly Threshold[],
  { pointLimit, parameters, nowMs }: DetectionTask,
): Promise<Findings> {
  const read = await readSeriesPoints(binding, series.no, ALL_TIME, pointLimit, nowMs);
  const { direction } = series;
  const shifts: Shift[] = findShifts(read.points, { direction, statistic: defaultStatistic(series), parameters });
  for (const rule of rules) if (isSelected(series, rule.selector)) shifts.push(...findBreaches(read, rule, direction));
  return { series, ...read, shifts };
}

async function planFor(binding: D1Database, findings: readonly Findings[], task: DetectionTask): Promise<Plan> {
  const numbers = findings.map(({ series }) => series.no);
  if (numbers.length === 0) return { alerts: [], changes: [] };
  // A series has at most as many changes as points, except those of rules.
  const changes = await readKnownChanges(binding, numbers, task.pointLimit);
  const shifts = findings.flatMap(({ series, shifts: some }) => some.map((shift) => ({ series, shift })));
  if (changes.length + shifts.length === 0) return { alerts: [], changes: [] };
  const alerts = await readKnownAlerts(
    binding,
    [...new Set(changes.map(({ alertId }) => alertId))],
    [...new Set(shifts.map(({ series }) => series.project))],
    [...new Set(shifts.map(({ series }) => series.fingerprintId))],
    shifts.length === 0 ? null : spanOf(shifts.map(({ shift }) => shift)),
  );
  return planAlerts(
    findings,
    { changes, alerts },
    {
      nowMs: task.nowMs,
      minSegment: task.parameters.minSegment,
      mayWithdraw: Object.values(task.parameters).every((value) => value === undefined),
      createId: (kind) => createId(kind, task.nowMs),
    },
  );
}

function spanOf(shifts: readonly Shift[]): Span {
  const fromMs = shifts.reduce((least, { afterMs }) => Math.min(least, afterMs), Number.POSITIVE_INFINITY);
  const toMs = shifts.reduce((most, { atMs }) => Math.max(most, atMs), 0);
  return { fromMs, toMs };
}

async function save(binding: D1Database, state: DetectionState, task: DetectionTask, plan: Plan) {
  const { progress, nowMs } = task;
  const further = await prepareAlertDeliveries(binding, plan, nowMs);
  return saveDetection(binding, state, { progress, ...plan, nowMs }, further);
}

/** Notifies pages that listen; a page that misses the event reads the same a little later. */
async function announce(env: Env, { alerts }: Plan): Promise<void> {
  try {
    for (const { id, project } of alerts) await jobQueue(env).announce({ type: "alert", id }, project);
  } catch (error) {
    logFailure("announce-failed", error);
  }
}
