import type { StoredPoint } from "./point-store.ts";
import type { Span } from "./rollup-store.ts";

/** Which points of runs are meant. */
export interface RunPointFilter {
  readonly span: Span;
  readonly runId: string | null;
  readonly revision: string | null;
}

/** A point that a run left. */
export interface RunPoint extends StoredPoint {
  readonly seriesNo: number;
  readonly runId: string;
}

const MEANT = (table: string) => `${table}.at_ms < ?3 and ${table}.run_id is not null
  and (?4 is null or ${table}.run_id = ?4) and (?5 is null or ${table}.revision = ?5)`;

/**
 * The latest points of runs of each series, newest first; one more than `limit` of a series tells of a cut. The
 * place of the cut comes from the index, so that an old series costs no more than a young one.
 */
export async function readRunPoints(
  binding: D1Database,
  numbers: readonly number[],
  { span, runId, revision }: RunPointFilter,
  limit: number,
): Promise<RunPoint[]> {
  const { results } = await binding
    .prepare(
      `select p.series_no as seriesNo, p.at_ms as atMs, p.run_id as runId, p.revision, p.count, p.min, p.max, p.sum,
         p.sketch
       from json_each(?1) as wanted cross join points as p on p.series_no = wanted.value
       where p.at_ms >= max(?2, coalesce(
         (select q.at_ms from points as q where q.series_no = wanted.value and ${MEANT("q")}
          order by q.at_ms desc limit 1 offset ?6), ?2))
       and ${MEANT("p")}
       order by p.series_no, p.at_ms desc`,
    )
    .bind(JSON.stringify(numbers), span.fromMs, span.toMs, runId, revision, limit)
    .all<RunPoint>();
  return results;
}

/** Ids of the series that a run has points of; one more than `limit` tells of a cut. */
export async function seriesIdsOfRun(binding: D1Database, runId: string, limit: number): Promise<string[]> {
  const { results } = await binding
    .prepare(
      `select distinct series.id from points join series on series.no = points.series_no
       where points.run_id = ?1 limit ?2`,
    )
    .bind(runId, limit + 1)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}
