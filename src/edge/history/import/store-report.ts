import { createProblem, type Problem } from "../../../protocol/wire/problem.ts";
import type { ReportFormat, ReportRun, RunSamples } from "../../../protocol/history/run.ts";
import type { ReportInput } from "../../../protocol/history/report.ts";
import type { ProjectEnv } from "../../config.ts";
import { writeJson } from "../../http/write-json.ts";
import { digestOf } from "../../store/artifact-store.ts";
import { openProject } from "../../store/database.ts";
import { appendMeasurements, identifySeries, lacksSeries, type Measurement } from "../../store/history/point-store.ts";
import {
  deleteSamples,
  findReport,
  insertReport,
  lacksRoom,
  measureSamples,
  putSamples,
  reportIdOf,
  type StoredReport,
  toReportRun,
} from "../../store/history/report-store.ts";
import { quotaExceeded } from "../../store/quotas/quota-problem.ts";
import { measureReport } from "./measure-report.ts";

export interface Submitted {
  readonly ownerId: string;
  readonly tool: ReportFormat;
  readonly report: ReportInput;
  readonly nowMs: number;
}

export type StoreOutcome =
  | { readonly ok: true; readonly created: boolean; readonly run: ReportRun; readonly series: string[] }
  | { readonly ok: false; readonly problem: Problem };

/**
 * Stores a report: its samples, then its run and points in one transaction. A repeated or simultaneous report gets the
 * run of the first one, with its time. Fails with `conflict` where the name has other content, and with
 * `quota-exceeded` where the project has no room for its run, points or new series.
 */
export async function storeReport(env: ProjectEnv, { ownerId, tool, report, nowMs }: Submitted): Promise<StoreOutcome> {
  const digest = await digestReport(tool, report);
  const name = report.run ?? digest;
  const id = await reportIdOf(ownerId, name);
  const db = openProject(env);
  const atMs = report.at === undefined ? nowMs : Date.parse(report.at);
  const measurements = await measureReport(report, { project: env.project, runId: id, atMs });
  const rows = await identifySeries(measurements);
  const seriesIds = rows.map(([seriesId]) => seriesId);
  const series = [...new Set(seriesIds)];
  const samples = samplesOf(measurements, report, seriesIds);
  // Without samples, the transaction alone finds a run that exists: it fails.
  const known = samples === null ? null : await findReport(db, id);
  if (known !== null) return recognise(env, known, digest, series);
  const samplesBytes =
    samples === null ? null : await putSamples(env.ARTIFACTS, { runId: id, part: digest }, await writeJson(samples));
  const { label = null, revision = null } = report;
  const row = {
    id,
    project: env.project,
    ownerId,
    name,
    digest,
    tool,
    label,
    revision,
    points: measurements.length,
    atMs,
    storedAtMs: nowMs,
  };
  try {
    await appendMeasurements(env.DB, measurements, [insertReport(env.DB, row)], rows);
  } catch (error) {
    // Nothing of it was stored: a report of the same name was there first, or the database failed.
    const first = await findReport(db, id);
    if (first !== null) return recognise(env, first, digest, series);
    const problem = await nameQuota(env, error, { series: series.length, points: measurements.length });
    if (problem === null) throw error;
    if (samples !== null) await deleteSamples(env.ARTIFACTS, { runId: id, part: digest });
    return { ok: false, problem };
  }
  return { ok: true, created: true, run: { ...toReportRun(row), samplesBytes }, series };
}

/** The problem of a quota that left no room for a report; null where its transaction failed otherwise. */
async function nameQuota(
  env: ProjectEnv,
  error: unknown,
  { series, points }: { readonly series: number; readonly points: number },
): Promise<Problem | null> {
  if (lacksSeries(error)) return (await quotaExceeded(env, { series })).problem;
  if (!lacksRoom(error)) return null;
  return (await quotaExceeded(env, { runs: 1, points, pointsADay: points })).problem;
}

async function recognise(
  env: ProjectEnv,
  known: StoredReport,
  digest: string,
  series: string[],
): Promise<StoreOutcome> {
  if (known.digest !== digest) {
    const detail = `The run ${JSON.stringify(known.name)} was reported before with other content.`;
    const errors = [{ pointer: "#/run", message: "names a run with other content" }];
    return { ok: false, problem: createProblem("conflict", detail, { errors }) };
  }
  const samplesBytes = await measureSamples(env.ARTIFACTS, { runId: known.id, part: digest });
  return { ok: true, created: false, run: { ...toReportRun(known), samplesBytes }, series };
}

/** Digest of a report without its name, as hex. */
async function digestReport(tool: ReportFormat, report: ReportInput): Promise<string> {
  const text = `[${JSON.stringify(tool)},${await writeJson({ ...report, run: undefined })}]`;
  const digest = await digestOf(new TextEncoder().encode(text).buffer as ArrayBuffer);
  return digest.slice("sha256:".length);
}

/** The raw samples of a report; null where it has none. */
function samplesOf(
  measurements: readonly Measurement[],
  report: ReportInput,
  seriesIds: readonly string[],
): RunSamples | null {
  const sampled = measurements.flatMap(({ key: { subject, metric, unit, clock } }, index) => {
    const values = report.measurements[index]?.values;
    const series = seriesIds[index];
    return values === undefined || series === undefined ? [] : [{ subject, metric, unit, clock, series, values }];
  });
  return sampled.length === 0 ? null : { measurements: sampled };
}
