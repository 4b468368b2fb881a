import { mkdtemp, rm, stat } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { endpoints } from "../src/protocol/endpoints.ts";
import type { Bench, BenchContext } from "./benches.ts";
import { runContest } from "./contest.ts";
import { askD1 } from "./history/ask-d1.ts";
import { askDuckdb } from "./history/ask-duckdb.ts";
import { askOurs, toUrl } from "./history/ask-ours.ts";
import { askSqlite } from "./history/ask-sqlite.ts";
import { fillSamples } from "./history/fill-samples.ts";
import { inferBeside } from "./history/infer-beside.ts";
import { createYear, type MeasuredYear } from "./history/measured-year.ts";
import { NEVER_MS, type PreparedHistory, prepareHistory } from "./history/prepare-history.ts";
import { checkAnswer, computeAnswer, type Expected, type Question, QUESTIONS } from "./history/questions.ts";
import { percentileSql, windowSql } from "./history/sample-sql.ts";
import { type D1Host, startD1 } from "./history/start-d1.ts";
import { type Stack, startStack } from "./hop/start-stack.ts";
import { installPeers } from "./install-peers.ts";
import { createRow, type Row } from "./row.ts";

const METRICS = {
  time: { unit: "ms", better: "lower" },
  "rows read": { unit: "rows", better: "lower" },
} as const;
const PER_SECOND = { unit: "1/s", better: "higher", oursOnly: true } as const;
const BYTES_PER_MB = 1e6;
const SIZE = { unit: "MB", better: "lower" } as const;

/**
 * Queries over a year of a million points in a thousand series, to the product over HTTP, which has rollups, and to
 * peers that hold each sample as a row. `isBeside` adds inferences while one of the queries loops.
 */
export function benchHistoryQuery(samplesPerPoint: number, isBeside: boolean): Bench {
  return async function* benchHistory(context) {
    const say = (text: string) => context.say(`${context.bench}: ${text}`);
    await installPeers(say);
    say("drawing the year");
    const year = createYear(samplesPerPoint);
    const folder = await mkdtemp(join(tmpdir(), "millrace-history-"));
    let prepared: PreparedHistory | null = null;
    const prepare = async (dataDir: string) => {
      say("filling the history and rolling it up");
      prepared = await prepareHistory(dataDir, year);
    };
    const cleanups = [() => rm(folder, { recursive: true, force: true })];
    try {
      const stack = await startStack(say, { prepare, cronMs: NEVER_MS });
      cleanups.push(() => stack.stop());
      const samples = await startD1(folder);
      cleanups.push(() => samples.stop());
      say("filling the samples");
      fillSamples(samples.file, year);
      yield* measureAll(context, {
        isBeside,
        year,
        prepared: prepared!,
        stack,
        samples,
        duckdb: join(folder, "samples.duckdb"),
      });
    } finally {
      for (const cleanup of cleanups.toReversed()) await cleanup();
    }
  };
}

/** Prepared stores and running processes. */
interface Filled {
  readonly isBeside: boolean;
  readonly year: MeasuredYear;
  readonly prepared: PreparedHistory;
  readonly stack: Stack;
  readonly samples: D1Host;
  /** DuckDB's file, which is filled on first use. */
  readonly duckdb: string;
}

async function* measureAll(context: BenchContext, filled: Filled): AsyncGenerator<Row> {
  const { isBeside, year, prepared, stack, samples, duckdb } = filled;
  const device = { name: cpus()[0]?.model.trim() ?? "unknown", software: false };
  const { secret: key } = await stack.client.call(endpoints.createKey, { body: { name: "reader", scopes: ["read"] } });
  const answers = new Map<Question, Expected>();
  yield* runContest<Question>(
    {
      metrics: METRICS,
      cases: QUESTIONS.map((question) => ({ name: question.name, input: question })),
      device,
      ours: askOurs({ url: stack.url, key }, year, prepared.ids),
      peers: {
        "sqlite-raw": askSqlite(samples.file, windowSql),
        "sqlite-percentile": askSqlite(samples.file, percentileSql),
        "d1-raw": askD1(samples),
        duckdb: askDuckdb(duckdb, year),
      },
      check(question, output) {
        const expected = answers.get(question) ?? computeAnswer(year, question);
        answers.set(question, expected);
        checkAnswer(expected, output);
      },
    },
    context,
  );
  const loops = QUESTIONS.map((question) => ({
    name: question.name,
    url: toUrl(stack.url, year, prepared.ids, question),
  }));
  const rowContext = { bench: context.bench, rounds: context.rounds, device: device.name, software: device.software };
  if (isBeside) yield* inferBeside(context, rowContext, stack, { key, loops });
  const once = { ...rowContext, case: "1,000,000 points", rounds: 1 };
  yield createRow(once, ["rolled up", PER_SECOND], [prepared.rolledPerSecond], null);
  for (const [name, file] of Object.entries({ "sqlite-raw": samples.file, duckdb })) {
    const peer = await stat(file).then(
      ({ size }) => ({ values: [size / BYTES_PER_MB] }),
      () => ({ reason: "it has no database" }),
    );
    yield createRow(once, ["database", SIZE], [prepared.sizeBytes / BYTES_PER_MB], { name, ...peer });
  }
}
