import * as fc from "fast-check";
import { readFileSync } from "node:fs";
import { parquetReadObjects } from "hyparquet";
import { importCriterion } from "../../../src/edge/history/import/criterion.ts";
import { importGoogleBenchmark } from "../../../src/edge/history/import/google-benchmark.ts";
import { importHyperfine } from "../../../src/edge/history/import/hyperfine.ts";
import type { Imported } from "../../../src/edge/history/import/imported.ts";
import { importMitata } from "../../../src/edge/history/import/mitata.ts";
import { importTinybench } from "../../../src/edge/history/import/tinybench.ts";
import { checkReport, measureReport } from "../../../src/edge/history/import/measure-report.ts";
import { type Table, writeTable } from "../../../src/edge/http/write-table.ts";
import { parseJson as parseBody, parseLines } from "../../../src/edge/http/read-body.ts";
import { decodeCursor, encodeCursor } from "../../../src/edge/store/cursor.ts";
import { CompareQuery, parseSide } from "../../../src/protocol/history/comparison.ts";
import { EvaluationComparisonQuery } from "../../../src/protocol/jobs/evaluation/evaluation-comparison.ts";
import { PointsQuery } from "../../../src/protocol/history/history.ts";
import {
  HeatmapQuery,
  HistoryLeaderboardQuery,
  HistoryQuery,
  ScalingQuery,
} from "../../../src/protocol/history/history-query.ts";
import { parseJson } from "../../../src/protocol/wire/parse-json.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";
import { ReportInput } from "../../../src/protocol/history/report.ts";
import { SeriesQuery } from "../../../src/protocol/history/series.ts";
import { countUpTo } from "../../../src/stats/distribution/read-sketch.ts";
import {
  addToSketch,
  createSketch,
  decodeSketch,
  encodeSketch,
  sketchQuantile,
} from "../../../src/stats/distribution/sketch.ts";
import { addSketchText, createSketchSum, toSketch } from "../../../src/stats/distribution/sketch-sum.ts";
import { type CodecTarget, hold, orRefused } from "./codec-target.ts";
import { damaged, damagedTexts, jsonTexts, toText, valuesOf } from "./inputs.ts";

const NOW_MS = Date.parse("2026-11-22T12:00:00Z");
const IMPORTERS = [importCriterion, importGoogleBenchmark, importHyperfine, importMitata, importTinybench];

const outputs = ["google-benchmark", "hyperfine", "mitata", "tinybench", "tinybench-2", "tinybench-3"].map(
  (name): unknown =>
    JSON.parse(readFileSync(new URL(`../../unit/edge/importers/${name}.json`, import.meta.url), "utf8")),
);

/** Our own form, and importers' output from tools. */
async function checkReported(report: unknown): Promise<void> {
  const parsed = ReportInput.safeParse(report);
  if (!parsed.success || checkReport(parsed.data, NOW_MS).length > 0) return;
  for (const { aggregate } of await measureReport(parsed.data, { project: "main", runId: "run_1", atMs: NOW_MS })) {
    hold(decodeSketch(aggregate.sketch).count === aggregate.count, "a sketch counts what the measurement does");
  }
}

async function checkImport(input: Uint8Array): Promise<void> {
  const value = parseJson(toText(input));
  for (const importer of IMPORTERS) {
    const imported: Imported | undefined = orRefused(() => importer(value), ProblemError);
    if (imported === undefined) continue;
    hold(imported.pointers.length === imported.report.measurements.length, "every measurement has its place");
    await checkReported(imported.report);
  }
}

const sketches = fc
  .array(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(0)), { maxLength: 12 })
  .map((values) => {
    const sketch = createSketch();
    for (const value of values) addToSketch(sketch, value);
    return new TextEncoder().encode(encodeSketch(sketch));
  });

function checkSketch(input: Uint8Array): void {
  const text = toText(input);
  const sum = createSketchSum();
  const sketch = orRefused(() => decodeSketch(text), RangeError);
  orRefused(() => addSketchText(sum, text), RangeError);
  orRefused(() => countUpTo(text, [1, 2]), RangeError);
  if (sketch === undefined) return;
  hold(encodeSketch(decodeSketch(encodeSketch(sketch))) === encodeSketch(sketch), "a sketch is kept");
  hold(encodeSketch(toSketch(sum)) === encodeSketch(sketch), "a sum of one sketch is that sketch");
  if (sketch.count > 0) hold(Number.isFinite(sketchQuantile(sketch, 0.5)), "a quantile is a number");
}

const cursors = fc
  .array(
    fc.oneof(
      fc.string({ maxLength: 8, unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)) }),
      fc.integer(),
    ),
    { maxLength: 9 },
  )
  .map((key) => new TextEncoder().encode(encodeCursor(key)));

function checkCursor(input: Uint8Array): void {
  for (const length of [1, 2, 3]) {
    const key = orRefused(() => decodeCursor(toText(input), length), ProblemError);
    if (key !== undefined) hold(key.length === length, "a cursor has its parts");
  }
}

const QUERIES = [
  PointsQuery,
  HistoryQuery,
  HeatmapQuery,
  ScalingQuery,
  HistoryLeaderboardQuery,
  SeriesQuery,
  CompareQuery,
  EvaluationComparisonQuery,
];

/** Every query of the history with the values of one that may be right. */
function checkQuery(input: Uint8Array): void {
  const text = toText(input);
  parseSide(text);
  const query = Object.fromEntries(new URLSearchParams(text));
  for (const schema of QUERIES) schema.safeParse(query);
}

const cells = fc.oneof(fc.string({ unit: "binary" }), fc.double(), fc.integer(), fc.boolean(), fc.constant(null));
const tables = fc.array(fc.tuple(fc.string({ unit: "binary", maxLength: 12 }), cells, fc.double()), { maxLength: 12 });

/** The input is a table of three columns as JSON; other inputs do not reach a writer. */
async function checkTable(input: Uint8Array): Promise<void> {
  const rows = parseJson(toText(input)) as Table["rows"];
  const columns = [
    { name: "text", type: "text" as const },
    { name: "mixed", type: "text" as const },
    { name: "number", type: "number" as const },
  ];
  const table = {
    columns,
    rows: rows.map(([text, mixed, number]) => [text!, mixed === null ? null : String(mixed), number!]),
  };
  hold(typeof writeTable(table, "csv") === "string", "a table is CSV");
  const lines = (writeTable(table, "ndjson") as string).split("\n");
  hold(lines.length === rows.length + 1, "a table has a line for each row");
  const file = writeTable(table, "parquet") as ArrayBuffer;
  const read = await parquetReadObjects({ file });
  hold(read.length === rows.length, "a Parquet file has its rows");
  read.forEach((row, at) => hold(row["number"] === table.rows[at]![2], "a Parquet file keeps its numbers"));
}

/** Bodies as the edge reads them, of JSON and of lines. */
function checkBody(input: Uint8Array): void {
  orRefused(() => parseBody(input), ProblemError);
  orRefused(() => parseLines(input), ProblemError);
}

const query =
  "a=label:main&b=run:run_01m821dnz5zaj6zqtwmq2djz7q&from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z&step=5m&percentiles=50,99.9&groupBy=device,configuration.m&configuration=m=256,dtype=float32&software=true&batch=8&limit=10&format=csv&orderBy=p50";

/** Input of the history, and its queries. */
export const HISTORY_TARGETS: readonly CodecTarget[] = [
  { name: "importers", weight: 8, inputs: jsonTexts(fc.constantFrom(...outputs)), check: checkImport },
  {
    name: "report",
    weight: 8,
    inputs: jsonTexts(valuesOf(ReportInput)),
    check: (input) => checkReported(parseJson(toText(input))),
  },
  { name: "sketch", weight: 8, inputs: fc.oneof(sketches, damaged(sketches)), check: checkSketch },
  { name: "cursor", weight: 5, inputs: fc.oneof(cursors, damaged(cursors)), check: checkCursor },
  { name: "query", weight: 6, inputs: damagedTexts(query, "run:x", "label:x"), check: checkQuery },
  {
    name: "table",
    weight: 2,
    inputs: tables.map((rows) => new TextEncoder().encode(JSON.stringify(rows))),
    check: checkTable,
  },
  { name: "body", weight: 4, inputs: jsonTexts(fc.jsonValue()), check: checkBody },
];
