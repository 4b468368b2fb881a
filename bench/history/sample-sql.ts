import type { Question } from "./questions.ts";

/** One row for each sample, clustered by the keys of the queries: an index with all columns that are read. */
export const SAMPLES_TABLE = `create table samples (series_no integer not null, at_ms integer not null,
  sample_no integer not null, value real not null, primary key (series_no, at_ms, sample_no)) without rowid`;

const SELECTED = `from samples
  where series_no in (select value from json_each(?1)) and at_ms >= ?2 and at_ms < ?3`;

function partOf({ parts }: Question): string {
  // A number would be a column's position there.
  if (parts === null) return "null";
  return "stepMs" in parts ? `at_ms / ${parts.stepMs}` : `at_ms >= ${parts.splitMs}`;
}

/** Percentiles by window functions, which every SQLite has, of rank ⌊n·p⌋ like ours. */
export function windowSql(question: Question): string {
  const part = partOf(question);
  const columns = question.shares.map(
    (share, index) => `max(iif(rank = cast(n * ${share} as integer), value, null)) as v${index}`,
  );
  return `with ranked as (
      select series_no, ${part} as part, value,
        row_number() over (partition by series_no, ${part} order by value) - 1 as rank,
        count(*) over (partition by series_no, ${part}) as n ${SELECTED})
    select ${columns.join()} from ranked group by series_no, part order by series_no, part`;
}

/** The same by SQLite's own function, which needs the percentile extension compiled in. */
export function percentileSql(question: Question): string {
  const columns = question.shares.map((share, index) => `percentile_disc(value, ${share}) as v${index}`);
  return `select ${columns.join()} ${SELECTED}
    group by series_no, ${partOf(question)} order by series_no, ${partOf(question)}`;
}

/** Parameters of both. */
export function bindQuestion({ numbers, fromMs, toMs }: Question): [string, number, number] {
  return [JSON.stringify(numbers), fromMs, toMs];
}

/** Rows of percentiles, as one. */
export function flattenRows(rows: readonly object[]): Float32Array {
  return Float32Array.from(rows.flatMap((row) => Object.values(row) as number[]));
}
