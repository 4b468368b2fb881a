import { z } from "zod";
import { Finding } from "../../../protocol/fleet/health.ts";
import type { WebhookEvent } from "../../../protocol/service/webhook.ts";
import { ALERT_COLUMNS, StoredAlertRow } from "./alert-store.ts";
import type { AlertRow } from "./describe-alert.ts";

/** An alert of a finding, as it is stored. */
export interface FindingAlert extends AlertRow {
  readonly findingKey: string;
  readonly finding: Finding;
}

/** An alert as it shall be, the version that it must still have, and the event that webhooks get. */
export interface PlannedFindingAlert {
  readonly alert: FindingAlert;
  /** Null of a new one. */
  readonly version: number | null;
  readonly event: WebhookEvent | null;
}

const FindingRow: z.ZodType<FindingAlert> = StoredAlertRow.extend({
  findingKey: z.string(),
  finding: z.string().transform((text) => Finding.parse(JSON.parse(text))),
});

/** The latest alert of each finding of a runner. */
export async function readFindingAlerts(binding: D1Database, runnerId: string): Promise<FindingAlert[]> {
  const { results } = await binding
    .prepare(
      `select * from (
         select ${ALERT_COLUMNS}, finding_key as findingKey, finding,
           row_number() over (partition by finding_key order by created_at_ms desc, id desc) as place
         from alerts where runner_id = ?1 and finding_key is not null
       ) where place = 1`,
    )
    .bind(runnerId)
    .all();
  return z.array(FindingRow).parse(results);
}

/**
 * Saves the planned alerts of a runner's findings, which belong to its project: all or nothing, with `further`
 * statements. False where one of them changed since the plan.
 */
export async function saveFindingAlerts(
  binding: D1Database,
  { id: runnerId, project }: { readonly id: string; readonly project: string },
  planned: readonly PlannedFindingAlert[],
  further: readonly D1PreparedStatement[],
): Promise<boolean> {
  // A null version aborts the transaction, since the column is not nullable.
  const update = binding.prepare(
    `update alerts set version = iif(version = ?2, ?3, null), state = ?4, note = ?5, finding = ?6, updated_at_ms = ?7
     where id = ?1`,
  );
  const insert = binding.prepare(
    `insert into alerts (id, project, state, direction, after_ms, at_ms, note, runner_id, finding_key, finding, version,
       created_at_ms, updated_at_ms)
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)`,
  );
  const statements = planned.map(({ alert: a, version }) => {
    const finding = JSON.stringify(a.finding);
    if (version !== null) return update.bind(a.id, version, a.version, a.state, a.note, finding, a.updatedAtMs);
    const place = [a.id, project, a.state, a.direction, a.afterMs, a.atMs, a.note, runnerId];
    return insert.bind(...place, a.findingKey, finding, a.version, a.createdAtMs, a.updatedAtMs);
  });
  try {
    await binding.batch([...statements, ...further]);
    return true;
  } catch (error) {
    if (String(error).includes("NOT NULL constraint failed: alerts.version")) return false;
    throw error;
  }
}
