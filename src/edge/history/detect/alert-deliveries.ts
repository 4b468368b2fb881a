import type { Alert, Change } from "../../../protocol/history/alert.ts";
import type { WebhookEvent } from "../../../protocol/service/webhook.ts";
import { changedSeriesOf, readAlerts } from "../../store/history/alert-store.ts";
import { toInstant } from "../../clock.ts";
import { prepareDeliveries } from "../webhooks/deliveries.ts";
import { describeAlert, sizeOf } from "../../store/history/describe-alert.ts";
import type { PlannedAlert, PlannedChange } from "../../store/history/detection-store.ts";
import type { Plan } from "./plan-alerts.ts";
import { toFoundChange } from "./shift.ts";

/** Statements that notify webhooks of a plan, for the transaction that applies it. */
export async function prepareAlertDeliveries(
  binding: D1Database,
  { alerts, changes }: Plan,
  nowMs: number,
): Promise<D1PreparedStatement[]> {
  const due = alerts.flatMap((alert) => {
    const type = eventOf(alert);
    return type === null ? [] : [{ alert, type }];
  });
  const stored = due.filter(({ alert }) => !alert.isNew).map(({ alert }) => alert.id);
  const before = stored.length === 0 ? [] : await readAlerts(binding, stored);
  return due.flatMap(({ alert, type }) => {
    const old = before.find(({ id }) => id === alert.id);
    const shown = old === undefined ? describeNew(alert, changes) : describeAgain(alert, old);
    return [prepareDeliveries(binding, { project: alert.project, type, alert: shown, atMs: nowMs })];
  });
}

/** Null for alerts without an event: muted ones, and regressions that were over when they were found. */
function eventOf({ isNew, state, before, direction }: PlannedAlert): WebhookEvent | null {
  if (state === before || before === "muted") return state === "open" && before === "muted" ? "alert.opened" : null;
  if (state === "open") return "alert.opened";
  if (isNew) return state === "resolved" && direction === "improvement" ? "alert.opened" : null;
  return state === "resolved" ? "alert.resolved" : null;
}

function describeNew(alert: PlannedAlert, changes: readonly PlannedChange[]): Alert {
  const own = changes.filter(({ alertId }) => alertId === alert.id);
  const shown = own.map(toChange).toSorted((a, b) => sizeOf(b) - sizeOf(a));
  const [leading] = shown;
  if (leading === undefined) throw new Error(`alert ${alert.id} has no change`);
  const series = new Set(own.map(({ seriesNo }) => seriesNo)).size;
  const subjects = new Set(own.map((change) => change.series.subject)).size;
  return describeAlert(alert, { changes: own.length, series, subjects, leading });
}

function describeAgain({ state, note, version, changes, updatedAtMs }: PlannedAlert, old: Alert): Alert {
  return { ...old, state, note, version, changes, updatedAt: toInstant(updatedAtMs) };
}

function toChange(change: PlannedChange): Change {
  const { id, alertId, series, createdAtMs } = change;
  return { ...toFoundChange(change), id, alertId, series: changedSeriesOf(series), createdAt: toInstant(createdAtMs) };
}
