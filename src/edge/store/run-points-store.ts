import type { ProjectEnv } from "../config.ts";
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

const COLUMNS = `p.series_no as seriesNo, p.at_ms as atMs, p.run_id as runId, p.revision, p.count, p.min, p.max, p.sum,
  p.sketch`;

/** The latest points of runs of each series, newest first; one more than `limit` of a series tells of a cut. */
export async function readRunPoints(
  binding: D1Database,
  numbers: readonly number[],
  filter: RunPointFilter,
  limit: number,
): Promise<RunPoint[]> {
  const { span, runId, revision } = filter;
  const parameters = [JSON.stringify(numbers), span.fromMs, span.toMs, revision, limit];
  const statement =
    runId === null
      ? binding.prepare(LATEST).bind(...parameters)
      : binding.prepare(OF_RUN).bind(...parameters.slice(0, 4), runId);
  return (await statement.all<RunPoint>()).results;
}

const meant = (table: string) => `${table}.at_ms < ?3 and ${table}.run_id is not null
  and (?4 is null or ${table}.revision = ?4)`;

/** The place of the cut comes from the index, so that an old series costs no more than a young one. */
const LATEST = `
  select ${COLUMNS} from json_each(?1) as wanted cross join points as p on p.series_no = wanted.value
  where p.at_ms >= max(?2, coalesce(
    (select q.at_ms from points as q where q.series_no = wanted.value and ${meant("q")}
     order by q.at_ms desc limit 1 offset ?5), ?2))
  and ${meant("p")}
  order by p.series_no, p.at_ms desc`;

const OF_RUN = `
  select ${COLUMNS} from points as p
  where p.run_id = ?5 and +p.series_no in (select value from json_each(?1)) and p.at_ms >= ?2 and ${meant("p")}
  order by p.series_no, p.at_ms desc`;

/** Ids of the series that a run has points of; one more than `limit` tells of a cut. */
export async function seriesIdsOfRun({ DB, project }: ProjectEnv, runId: string, limit: number): Promise<string[]> {
  const { results } = await DB.prepare(
    `select distinct series.id from points join series on series.no = points.series_no
       where points.run_id = ?1 and series.project = ?3 limit ?2`,
  )
    .bind(runId, limit + 1, project)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}
