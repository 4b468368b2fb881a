import { z } from "zod";
import {
  type Alert,
  type AlertDetail,
  type AlertQuery,
  AlertState,
  type Change,
  ChangeDirection,
  ChangeEvidence,
  FoundChange,
} from "../../../protocol/history/alert.ts";
import { Finding } from "../../../protocol/fleet/health.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { SeriesKey } from "../../../protocol/history/series.ts";
import { type AlertRow as StoredAlert, describeAlert, describeFinding } from "./describe-alert.ts";
import { cutPage, decodeCursor } from "../cursor.ts";
import type { ProjectStorage } from "../database.ts";
import { toInstant } from "../../clock.ts";
import type { Span } from "./rollup-store.ts";

/** Columns of every alert, without those of joined tables. */
export const StoredAlertRow = z.object({
  id: z.string(),
  state: AlertState,
  direction: ChangeDirection,
  fingerprintId: z.string().nullable(),
  afterMs: z.number(),
  atMs: z.number(),
  note: z.string().nullable(),
  version: z.number(),
  createdAtMs: z.number(),
  updatedAtMs: z.number(),
});

const AlertRow = StoredAlertRow.extend({
  finding: z
    .string()
    .nullable()
    .transform((text) => (text === null ? null : Finding.parse(JSON.parse(text)))),
});
type ListedAlert = StoredAlert & { readonly finding: Finding | null };

export const ALERT_COLUMNS = `alerts.id, alerts.state, alerts.direction, alerts.fingerprint_id as fingerprintId,
  alerts.after_ms as afterMs, alerts.at_ms as atMs, alerts.note, alerts.version,
  alerts.created_at_ms as createdAtMs, alerts.updated_at_ms as updatedAtMs`;
const LISTED_COLUMNS = `${ALERT_COLUMNS}, alerts.finding`;

/** A change with the key of its series. */
const ChangeRow = z.object({
  id: z.string(),
  alertId: z.string(),
  seriesId: z.string(),
  seriesKey: z.string(),
  fingerprintId: z.string().nullable(),
  thresholdId: z.string().nullable(),
  kind: FoundChange.shape.kind,
  direction: ChangeDirection,
  afterMs: z.number(),
  atMs: z.number(),
  runId: z.string().nullable(),
  revision: z.string().nullable(),
  evidence: z.string(),
  createdAtMs: z.number(),
});
type ChangeRow = z.infer<typeof ChangeRow>;

const CHANGE_COLUMNS = `changes.id, changes.alert_id as alertId, series.id as seriesId, series.key as seriesKey,
  series.fingerprint_id as fingerprintId, changes.threshold_id as thresholdId, changes.kind, changes.direction,
  changes.after_ms as afterMs, changes.at_ms as atMs, changes.run_id as runId, changes.revision, changes.evidence,
  changes.created_at_ms as createdAtMs`;

/** The largest first, relative to the level before; absolute where there is no such level. */
const BY_SIZE = `abs(coalesce(changes.evidence ->> '$.relativeChange',
  changes.evidence ->> '$.to' - changes.evidence ->> '$.from')) desc, changes.id`;

function toChange(row: ChangeRow): Change {
  const { id, alertId, kind, direction, thresholdId, runId, revision } = row;
  const key = JSON.parse(row.seriesKey) as SeriesKey;
  return {
    id,
    alertId,
    kind,
    direction,
    thresholdId,
    runId,
    revision,
    series: changedSeriesOf({
      ...key,
      id: row.seriesId,
      fingerprintId: row.fingerprintId,
    }),
    after: toInstant(row.afterMs),
    at: toInstant(row.atMs),
    ...ChangeEvidence.parse(JSON.parse(row.evidence)),
    createdAt: toInstant(row.createdAtMs),
  };
}

/** A change's fields of its series. */
export function changedSeriesOf({
  ...series
}: SeriesKey & { readonly id: string; readonly fingerprintId: string | null }): Change["series"] {
  const { id, subjectKind, subject, metric, unit, direction, configuration, label, fingerprintId } = series;
  return { id, subjectKind, subject, metric, unit, direction, configuration, label, fingerprintId };
}

/** Alerts for display: those of findings, or with the sums of their changes. */
async function describeAll(binding: D1Database, rows: readonly ListedAlert[]): Promise<Alert[]> {
  const ids = rows.flatMap(({ id, finding }) => (finding === null ? [id] : []));
  const leading = ids.length === 0 ? new Map<string, SummedChange>() : await readLeading(binding, ids);
  return rows.flatMap(({ finding, ...row }) => {
    if (finding !== null) return [describeFinding(row, finding)];
    const first = leading.get(row.id);
    if (first === undefined) return [];
    const sum = { changes: first.count, series: first.seriesCount, subjects: first.subjects };
    return [describeAlert(row, { ...sum, leading: toChange(ChangeRow.parse(first)) })];
  });
}

type SummedChange = ChangeRow & { count: number; seriesCount: number; subjects: number };

/** The largest change of each alert, and the number of its changes. */
async function readLeading(binding: D1Database, ids: readonly string[]): Promise<Map<string, SummedChange>> {
  const { results } = await binding
    .prepare(
      `select * from (
         select ${CHANGE_COLUMNS},
           row_number() over (partition by alert_id order by ${BY_SIZE}) as place,
           count(*) over (partition by alert_id) as count
         from changes join series on series.no = changes.series_no
         where alert_id in (select value from json_each(?1))
       ) join (
         select alert_id as summedId, count(distinct series_no) as seriesCount, count(distinct subject) as subjects
         from changes join series on series.no = changes.series_no
         where alert_id in (select value from json_each(?1)) group by alert_id
       ) on summedId = alertId where place = 1`,
    )
    .bind(JSON.stringify(ids))
    .all<SummedChange>();
  return new Map(results.map((row) => [row.alertId, row]));
}

/** Alerts, newest first. Throws `invalid-request` for a cursor of another list. */
export async function listAlerts(
  { DB, project }: ProjectStorage,
  { cursor, limit, state, kind, direction, subject, fingerprint, runner }: AlertQuery,
): Promise<{ items: Alert[]; nextCursor: string | null }> {
  const [beforeMs, id] = cursor === undefined ? [null, null] : decodeCursor(cursor, 2);
  const { results } = await DB.prepare(
    `select ${LISTED_COLUMNS} from alerts
       where project = ?10 and (?1 is null or created_at_ms < ?1 or (created_at_ms = ?1 and id < ?2))
         and (?3 is null or state = ?3) and (?4 is null or direction = ?4) and (?5 is null or fingerprint_id = ?5)
         and (?6 is null or exists (
           select 1 from changes join series on series.no = series_no where alert_id = alerts.id and subject = ?6))
         and (?8 is null or iif(finding is null, 'change', 'finding') = ?8) and (?9 is null or runner_id = ?9)
       order by created_at_ms desc, id desc limit ?7`,
  )
    .bind(
      beforeMs === null ? null : Number(beforeMs),
      id === null ? null : String(id),
      state ?? null,
      direction ?? null,
      fingerprint ?? null,
      subject ?? null,
      limit + 1,
      kind ?? null,
      runner ?? null,
      project,
    )
    .all();
  const cut = cutPage(z.array(AlertRow).parse(results), limit, (row) => [row.createdAtMs, row.id]);
  return { items: await describeAll(DB, cut.rows), nextCursor: cut.nextCursor };
}

/** Alerts of any project by their ids, unordered. */
export async function readAlerts(binding: D1Database, ids: readonly string[]): Promise<Alert[]> {
  const { results } = await binding
    .prepare(`select ${LISTED_COLUMNS} from alerts where id in (select value from json_each(?1))`)
    .bind(JSON.stringify(ids))
    .all();
  return describeAll(binding, z.array(AlertRow).parse(results));
}

export async function findAlert({ DB, project }: ProjectStorage, id: string): Promise<Alert | null> {
  const { results } = await DB.prepare(`select ${LISTED_COLUMNS} from alerts where project = ?1 and id = ?2`)
    .bind(project, id)
    .all();
  return (await describeAll(DB, z.array(AlertRow).parse(results)))[0] ?? null;
}

export async function findAlertDetail(env: ProjectStorage, id: string): Promise<AlertDetail | null> {
  const alert = await findAlert(env, id);
  if (alert === null) return null;
  const [items, neighbours] = await Promise.all([
    readChanges(env.DB, "changes.alert_id = ?2", BY_SIZE, LIMITS.alertChanges, [id]),
    readNeighbours(env, alert),
  ]);
  return { ...alert, items, neighbours };
}

async function readNeighbours(
  { DB, project }: ProjectStorage,
  { id, fingerprintId, after, at }: Alert,
): Promise<Alert[]> {
  if (fingerprintId === null) return [];
  const { results } = await DB.prepare(
    `select ${LISTED_COLUMNS} from alerts where project = ?6
       and fingerprint_id = ?1 and at_ms > ?2 and after_ms < ?3 and id <> ?4 order by at_ms, id limit ?5`,
  )
    .bind(fingerprintId, Date.parse(after), Date.parse(at), id, LIMITS.alertNeighbours, project)
    .all();
  return describeAll(DB, z.array(AlertRow).parse(results));
}

async function readChanges(
  binding: D1Database,
  where: string,
  order: string,
  limit: number,
  parameters: readonly (string | number)[],
): Promise<Change[]> {
  const { results } = await binding
    .prepare(
      `select ${CHANGE_COLUMNS} from changes join series on series.no = changes.series_no
       where ${where} order by ${order} limit ?1`,
    )
    .bind(limit, ...parameters)
    .all();
  return z.array(ChangeRow).parse(results).map(toChange);
}

/** Changes of a series in [fromMs, toMs), oldest first; the latest where there are more than a page's limit. */
export async function readChangesOf(binding: D1Database, seriesNo: number, span: Span): Promise<Change[]> {
  const where = "changes.series_no = ?2 and changes.at_ms >= ?3 and changes.at_ms < ?4";
  const parameters = [seriesNo, span.fromMs, span.toMs];
  const order = "changes.at_ms desc, changes.id desc";
  return (await readChanges(binding, where, order, LIMITS.historyPoints, parameters)).toReversed();
}

/**
 * Changes the state of an alert that still has this version, together with `further` statements. False where another
 * writer was faster. A running search for changes starts again.
 */
export async function saveAlertState(
  { DB, project }: ProjectStorage,
  alert: Pick<Alert, "id" | "state" | "note" | "version">,
  nowMs: number,
  further: readonly D1PreparedStatement[],
): Promise<boolean> {
  // A null version aborts the transaction, since the column is not nullable.
  const update = DB.prepare(
    `update alerts set version = iif(version = ?2, version + 1, null), state = ?3, note = ?4, updated_at_ms = ?5
       where id = ?1 and project = ?6`,
  ).bind(alert.id, alert.version, alert.state, alert.note, nowMs, project);
  const bump = DB.prepare("update history_state set detect_version = detect_version + 1");
  try {
    await DB.batch([update, bump, ...further]);
    return true;
  } catch (error) {
    if (String(error).includes("NOT NULL constraint failed: alerts.version")) return false;
    throw error;
  }
}
