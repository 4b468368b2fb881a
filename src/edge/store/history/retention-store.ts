import { DAY_MS, HOUR_MS, MINUTE_MS } from "./rollup-store.ts";

/** Points of one step. */
const STEP_POINTS = 2_000;
/** Number of parts of the series; one part is pruned at a time. */
export const PRUNED_PARTS = 24;

interface Row {
  readonly seq: number;
  readonly atMs: number;
  readonly runId: string | null;
}

/**
 * Deletes points of live requests from before `beforeMs` that are rolled up and searched for changes: a step at a time,
 * the oldest first. Points of runs stay. Returns whether there may be more.
 */
export async function prunePoints(binding: D1Database, beforeMs: number): Promise<boolean> {
  const [state, found] = await binding.batch([
    binding.prepare("select pruned_seq as prunedSeq from history_state"),
    binding
      .prepare(
        `select seq, at_ms as atMs, run_id as runId from points
         where seq > (select pruned_seq from history_state)
           and seq <= (select min(rolled_seq, detected_seq) from history_state) order by seq limit ?1`,
      )
      .bind(STEP_POINTS),
  ]);
  const { prunedSeq } = ((state?.results ?? []) as { prunedSeq: number }[])[0] ?? { prunedSeq: 0 };
  const rows = (found?.results ?? []) as Row[];
  const firstKept = rows.findIndex(({ atMs, runId }) => runId === null && atMs >= beforeMs);
  const lastSeq = (firstKept === -1 ? rows : rows.slice(0, firstKept)).at(-1)?.seq;
  if (lastSeq === undefined) return false;
  await binding.batch([
    binding.prepare("delete from points where seq > ?1 and seq <= ?2 and run_id is null").bind(prunedSeq, lastSeq),
    binding.prepare("update history_state set pruned_seq = ?2 where pruned_seq = ?1").bind(prunedSeq, lastSeq),
  ]);
  return firstKept === -1 && rows.length === STEP_POINTS;
}

/** Deletes the minutes and hours of one part of the series that are beyond their retention, by whole hours and days. */
export async function pruneRollups(
  binding: D1Database,
  part: number,
  minutesBeforeMs: number,
  hoursBeforeMs: number,
): Promise<void> {
  const own = `series_no in (select no from series where no % ${PRUNED_PARTS} = ?1)`;
  const rows = binding.prepare(`delete from rollups where ${own} and step_ms = ?2 and at_ms < ?3`);
  // A length in bytes is known without the text itself.
  const packs = binding.prepare(
    `update rollups set parts = '' where ${own} and step_ms = ?2 and at_ms < ?3 and octet_length(parts) > 0`,
  );
  const [hourMs, dayMs] = [floorTo(minutesBeforeMs, HOUR_MS), floorTo(hoursBeforeMs, DAY_MS)];
  await binding.batch([
    rows.bind(part, MINUTE_MS, hourMs),
    packs.bind(part, HOUR_MS, hourMs),
    rows.bind(part, HOUR_MS, dayMs),
    packs.bind(part, DAY_MS, dayMs),
    // Cached answers from the deleted rollups become invalid.
    binding.prepare("update history_state set roll_version = roll_version + 1"),
  ]);
}

/** Series of one step; each may have a thousand rollups. */
const STEP_SERIES = 20;

/**
 * Deletes series of one part whose last point came before `beforeMs` and is deleted, with their rollups, changes, and
 * alerts of no other changes: a step at a time. Series of runs stay, since their points do. Returns whether there may be
 * more.
 */
export async function pruneSeries(binding: D1Database, part: number, beforeMs: number): Promise<boolean> {
  const found = await binding
    .prepare(
      `select no from series where no % ${PRUNED_PARTS} = ?1 and coalesce(last_point_at_ms, created_at_ms) < ?2
         and not exists (select 1 from points where series_no = no) limit ?3`,
    )
    .bind(part, beforeMs, STEP_SERIES)
    .all<{ no: number }>();
  const numbers = JSON.stringify(found.results.map(({ no }) => no));
  if (found.results.length === 0) return false;
  const among = "(select value from json_each(?1))";
  const alerts = await binding
    .prepare(`select distinct alert_id as id from changes where series_no in ${among}`)
    .bind(numbers)
    .all<{ id: string }>();
  // A point that comes meanwhile holds its series: the transaction fails, and the next day finds it in use.
  await binding.batch([
    binding.prepare(`delete from changes where series_no in ${among}`).bind(numbers),
    binding
      .prepare(
        `delete from alerts where id in ${among} and finding is null
           and not exists (select 1 from changes where alert_id = alerts.id)`,
      )
      .bind(JSON.stringify(alerts.results.map(({ id }) => id))),
    binding.prepare(`delete from rollups where series_no in ${among}`).bind(numbers),
    binding.prepare(`delete from series where no in ${among}`).bind(numbers),
    // Cached answers become invalid, and a search for changes that runs meanwhile begins again.
    binding.prepare("update history_state set roll_version = roll_version + 1, detect_version = detect_version + 1"),
  ]);
  return found.results.length === STEP_SERIES;
}

function floorTo(ms: number, stepMs: number): number {
  return Math.floor(ms / stepMs) * stepMs;
}
