import type { DuckDBConnection } from "@duckdb/node-api";
import type { Contender } from "../contest.ts";
import { orderBySeries } from "./fill-samples.ts";
import type { MeasuredYear } from "./measured-year.ts";
import type { Question } from "./questions.ts";
import { timeAnswers } from "./time-answers.ts";

/** DuckDB's own size of a vector. */
const CHUNK_ROWS = 2_048;
/** Its discrete quantile has rank ⌈n·p⌉ − 1, ours ⌊n·p⌋: slightly above p they are equal. */
const HAIR = 1e-9;

/** Samples in DuckDB within this process, sorted by the keys of the queries, with its default number of threads. */
export function askDuckdb(file: string, year: MeasuredYear): Contender<Question> {
  let opened: Promise<DuckDBConnection> | null = null;
  return async (question) => {
    const connection = await (opened ??= fill(file, year));
    const sql = sqlOf(question);
    return timeAnswers(async () => {
      const rows = (await connection.runAndReadAll(sql)).getRowsJS();
      return { percentiles: Float32Array.from(rows.flat() as number[]), rowsRead: null };
    });
  };
}

function sqlOf({ numbers, fromMs, toMs, parts, shares }: Question): string {
  const part = parts === null ? "0" : "stepMs" in parts ? `at_ms // ${parts.stepMs}` : `at_ms >= ${parts.splitMs}`;
  return `select ${shares.map((_, index) => `q[${index + 1}]`).join()} from (
      select series_no, ${part} as part, quantile_disc(value, [${shares.map((share) => share + HAIR).join()}]) as q
      from samples where series_no in (${numbers.join()}) and at_ms >= ${fromMs} and at_ms < ${toMs}
      group by all) order by series_no, part`;
}

async function fill(file: string, year: MeasuredYear): Promise<DuckDBConnection> {
  const { BIGINT, DOUBLE, DuckDBDataChunk, DuckDBInstance, INTEGER } = await import("@duckdb/node-api");
  const connection = await (await DuckDBInstance.create(file)).connect();
  await connection.run("create table samples (series_no integer, at_ms bigint, value double)");
  const appender = await connection.createAppender("samples");
  const points = orderBySeries(year);
  const pointsPerChunk = Math.floor(CHUNK_ROWS / year.samplesPerPoint);
  for (let first = 0; first < points.length; first += pointsPerChunk) {
    const some = Array.from(points.subarray(first, first + pointsPerChunk));
    const repeated = <Value>(valueOf: (point: number) => Value) =>
      some.flatMap((point) => Array.from({ length: year.samplesPerPoint }, () => valueOf(point)));
    const chunk = DuckDBDataChunk.create([INTEGER, BIGINT, DOUBLE]);
    chunk.setColumns([
      repeated((point) => year.no[point]!),
      repeated((point) => BigInt(year.atMs[point]!)),
      some.flatMap((point) => [
        ...year.samples.subarray(point * year.samplesPerPoint, (point + 1) * year.samplesPerPoint),
      ]),
    ]);
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
  await connection.run("checkpoint");
  return connection;
}
