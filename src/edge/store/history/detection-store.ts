import { z } from "zod";
import {
  type AlertState,
  type ChangeDirection,
  ChangeEvidence,
  type FoundChange,
} from "../../../protocol/history/alert.ts";
import { ALERT_COLUMNS } from "./alert-store.ts";
import { chunkRows } from "../database.ts";
import type { AlertRow } from "./describe-alert.ts";
import type { Span } from "./rollup-store.ts";
import type { StoredSeries } from "./series-store.ts";

/** A change of one series, found or stored. */
export interface Shift {
  readonly kind: FoundChange["kind"];
  /** The rule that was broken; null for a change point. */
  readonly thresholdId: string | null;
  readonly direction: ChangeDirection;
  /** Last point of the old regime, first of the new one. */
  readonly afterMs: number;
  readonly atMs: number;
  readonly runId: string | null;
  readonly revision: string | null;
  readonly evidence: ChangeEvidence;
}

/** A change that is stored. */
export interface KnownChange extends Shift {
  readonly id: string;
  readonly seriesNo: number;
  readonly alertId: string;
  readonly alertState: AlertState;
  readonly createdAtMs: number;
}

/** An alert, stored or about to be. */
export interface KnownAlert extends AlertRow {
  readonly project: string;
  readonly changes: number;
  /** Its changes that were not withdrawn, and whose series are not back at their old level. */
  readonly lasting: number;
  /** Subject of one of its changes. */
  readonly subject: string;
  readonly runId: string | null;
}

export interface PlannedChange extends Omit<KnownChange, "alertState"> {
  readonly series: StoredSeries;
  readonly isNew: boolean;
}

export interface PlannedAlert extends KnownAlert {
  readonly isNew: boolean;
  /** The state that it was found in; null of a new one. */
  readonly before: AlertState | null;
}

/** Progress of the search for changes. */
export interface DetectionState {
  readonly detectedSeq: number;
  readonly version: number;
}

/** A point after `DetectionState.detectedSeq`. */
export interface LandedPoint {
  readonly seq: number;
  readonly seriesNo: number;
  /** 1 or 0. */
  readonly isOfRun: number;
  /** Last searched point of its series. */
  readonly seriesDetectedSeq: number;
  readonly seriesDetectedAtMs: number | null;
}

export async function readDetectionState(binding: D1Database): Promise<DetectionState> {
  const row = await binding
    .prepare("select detected_seq as detectedSeq, detect_version as version from history_state")
    .first<DetectionState>();
  return row ?? { detectedSeq: 0, version: 0 };
}

/** The next points after `afterSeq` in order of arrival, and the last of all points. */
export async function readLanded(
  binding: D1Database,
  afterSeq: number,
  limit: number,
): Promise<{ points: LandedPoint[]; lastSeq: number }> {
  const [last, found] = await binding.batch([
    binding.prepare("select max(seq) as lastSeq from points"),
    binding
      .prepare(
        `select seq, series_no as seriesNo, run_id is not null as isOfRun,
           series.detected_seq as seriesDetectedSeq, series.detected_at_ms as seriesDetectedAtMs
         from points join series on no = series_no where seq > ?1 order by seq limit ?2`,
      )
      .bind(afterSeq, limit),
  ]);
  const [{ lastSeq } = { lastSeq: null }] = (last?.results ?? []) as { lastSeq: number | null }[];
  return { points: (found?.results ?? []) as LandedPoint[], lastSeq: lastSeq ?? 0 };
}

const KnownChangeRow = z.object({
  id: z.string(),
  alertId: z.string(),
  alertState: z.custom<KnownChange["alertState"]>(),
  seriesNo: z.number(),
  thresholdId: z.string().nullable(),
  kind: z.custom<KnownChange["kind"]>(),
  direction: z.custom<KnownChange["direction"]>(),
  afterMs: z.number(),
  atMs: z.number(),
  runId: z.string().nullable(),
  revision: z.string().nullable(),
  createdAtMs: z.number(),
  evidence: z.string().transform((text) => ChangeEvidence.parse(JSON.parse(text))),
});

/** The latest changes of some series, `limit` of each at most. */
export async function readKnownChanges(
  binding: D1Database,
  numbers: readonly number[],
  limit: number,
): Promise<KnownChange[]> {
  const { results } = await binding
    .prepare(
      `select * from (
         select changes.id, alert_id as alertId, alerts.state as alertState, series_no as seriesNo,
           threshold_id as thresholdId, kind, changes.direction, changes.after_ms as afterMs, changes.at_ms as atMs,
           run_id as runId, revision, evidence, changes.created_at_ms as createdAtMs,
           row_number() over (partition by series_no order by changes.at_ms desc) as place
         from changes join alerts on alerts.id = alert_id
         where series_no in (select value from json_each(?1))
       ) where place <= ?2 order by seriesNo, atMs, id`,
    )
    .bind(JSON.stringify(numbers), limit)
    .all();
  return z.array(KnownChangeRow).parse(results);
}

/** Alerts by id, and those of some projects and hardware whose span overlaps this one: candidates for a new change. */
export async function readKnownAlerts(
  binding: D1Database,
  ids: readonly string[],
  projects: readonly string[],
  fingerprintIds: readonly (string | null)[],
  span: Span | null,
): Promise<KnownAlert[]> {
  const summed = `select ${ALERT_COLUMNS}, alerts.project, count(*) as changes, sum(coalesce(evidence ->> '$.returnedAt', evidence ->> '$.withdrawnAt') is null) as lasting,
      min(subject) as subject, min(changes.run_id) as runId
    from alerts join changes on alert_id = alerts.id join series on series.no = series_no`;
  const { results } = await binding
    .prepare(
      `${summed} where alerts.id in (
         select value from json_each(?1)
         union select alerts.id from json_each(?2) join alerts on fingerprint_id is value
           where alerts.at_ms > ?3 and alerts.after_ms < ?4
             and alerts.project in (select value from json_each(?5))
       ) group by alerts.id`,
    )
    .bind(
      JSON.stringify(ids),
      JSON.stringify(fingerprintIds),
      span?.fromMs ?? 0,
      span?.toMs ?? 0,
      JSON.stringify(projects),
    )
    .all<KnownAlert>();
  return results;
}

/** Progress of a search; a search on request makes none. */
export interface DetectionProgress {
  /** Every point up to here was searched. */
  readonly detectedSeq: number;
  /** In these series, every point up to `seriesDetectedSeq` was searched. */
  readonly numbers: readonly number[];
  readonly seriesDetectedSeq: number;
}

/** Result of one search. */
export interface DetectionStep {
  readonly progress: DetectionProgress | null;
  readonly alerts: readonly PlannedAlert[];
  readonly changes: readonly PlannedChange[];
  readonly nowMs: number;
}

/**
 * Saves a search, all or nothing, with `further` statements. It fails unless `state` is still the latest, since the
 * findings were compared with the alerts of that state.
 */
export async function saveDetection(
  binding: D1Database,
  state: DetectionState,
  { progress, alerts, changes, nowMs }: DetectionStep,
  further: readonly D1PreparedStatement[],
): Promise<"saved" | "overtaken"> {
  // A null version aborts the transaction, since the column is not nullable.
  const advance = binding
    .prepare(
      `update history_state set detect_version = iif(detect_version = ?1, detect_version + 1, null),
         detected_seq = max(detected_seq, ?2)`,
    )
    .bind(state.version, progress?.detectedSeq ?? 0);
  const stamp = binding
    .prepare(`update series set detected_at_ms = ?2, detected_seq = ?3 where no in (select value from json_each(?1))`)
    .bind(JSON.stringify(progress?.numbers ?? []), nowMs, progress?.seriesDetectedSeq ?? 0);
  try {
    await binding.batch([
      advance,
      stamp,
      ...upsertAlerts(binding, alerts),
      ...upsertChanges(binding, changes),
      ...further,
    ]);
    return "saved";
  } catch (error) {
    if (String(error).includes("NOT NULL constraint failed: history_state.detect_version")) return "overtaken";
    throw error;
  }
}

function upsertAlerts(binding: D1Database, alerts: readonly PlannedAlert[]): D1PreparedStatement[] {
  const statement = binding.prepare(
    `insert into alerts (id, project, state, direction, fingerprint_id, after_ms, at_ms, note, version, created_at_ms,
       updated_at_ms)
     select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8, value->>9,
       value->>10 from json_each(?1) where true
     on conflict (id) do update set state = excluded.state, after_ms = excluded.after_ms, at_ms = excluded.at_ms,
       note = excluded.note, version = excluded.version, updated_at_ms = excluded.updated_at_ms`,
  );
  const rows = alerts.map((a) => [
    a.id,
    a.project,
    a.state,
    a.direction,
    a.fingerprintId,
    a.afterMs,
    a.atMs,
    a.note,
    a.version,
    a.createdAtMs,
    a.updatedAtMs,
  ]);
  return chunkRows(rows).map((json) => statement.bind(json));
}

function upsertChanges(binding: D1Database, changes: readonly PlannedChange[]): D1PreparedStatement[] {
  const statement = binding.prepare(
    `insert into changes (id, series_no, alert_id, threshold_id, kind, direction, after_ms, at_ms, run_id, revision,
       evidence, created_at_ms)
     select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8, value->>9,
       value->>10, value->>11 from json_each(?1) where true
     on conflict (id) do update set kind = excluded.kind, after_ms = excluded.after_ms, at_ms = excluded.at_ms,
       run_id = excluded.run_id, revision = excluded.revision, evidence = excluded.evidence`,
  );
  const rows = changes.map((c) => [
    c.id,
    c.seriesNo,
    c.alertId,
    c.thresholdId,
    c.kind,
    c.direction,
    c.afterMs,
    c.atMs,
    c.runId,
    c.revision,
    JSON.stringify(c.evidence),
    c.createdAtMs,
  ]);
  return chunkRows(rows).map((json) => statement.bind(json));
}
