import { z } from "zod";
import { parseInput } from "../../../protocol/wire/parse-input.ts";
import { toPointerPart } from "../../../protocol/wire/problem.ts";
import { type Imported, type ImportedMeasurement, millisecondsIn, toImported, toNumbers } from "./imported.ts";

const Row = z
  .looseObject({
    name: z.string(),
    run_name: z.string().optional(),
    run_type: z.enum(["iteration", "aggregate"]).default("iteration"),
    aggregate_name: z.string().optional(),
    time_unit: z.string().default("ns"),
    real_time: z.number().optional(),
    cpu_time: z.number().optional(),
    error_occurred: z.boolean().default(false),
    skipped: z.boolean().default(false),
  })
  .refine(({ time_unit }) => millisecondsIn(time_unit) !== undefined, {
    path: ["time_unit"],
    message: "must be a unit of time",
  });
type Row = z.infer<typeof Row>;

const Output = z.object({ context: z.object({ date: z.string().optional() }).default({}), benchmarks: z.array(Row) });

/** Numeric fields of a row that are not counters. */
const NO_COUNTERS: ReadonlySet<string> = new Set([
  "family_index",
  "per_family_instance_index",
  "repetitions",
  "repetition_index",
  "threads",
  "iterations",
  "real_time",
  "cpu_time",
  "items_per_second",
  "bytes_per_second",
]);

/**
 * Output of Google Benchmark with `--benchmark_format=json` (its user guide, "Output Formats"). The repetitions of a
 * benchmark are the samples of one measurement; where only aggregates were reported, it is their mean. Rows that
 * failed or were skipped, and those of asymptotic complexity, are left out.
 */
export function importGoogleBenchmark(json: unknown): Imported {
  const { context, benchmarks } = parseInput(Output, json);
  const rows = benchmarks
    .map((row, index) => ({ row, pointer: `#/benchmarks/${index}` }))
    .filter(({ row }) => !row.error_occurred && !row.skipped && row.real_time !== undefined);
  const byName = Map.groupBy(rows, ({ row }) => row.run_name ?? row.name);
  const measured = [...byName].flatMap(([subject, ofName]) => {
    const iterations = ofName.filter(({ row }) => row.run_type === "iteration");
    const counted = iterations.length > 0 ? iterations : ofName.filter(({ row }) => row.aggregate_name === "mean");
    return measureRows(subject, counted);
  });
  return toImported(measured, toTime(context.date));
}

function measureRows(subject: string, rows: readonly { row: Row; pointer: string }[]): ImportedMeasurement[] {
  const [first] = rows;
  if (first === undefined) return [];
  const counters = Object.entries(first.row).flatMap(([name, value]) =>
    typeof value === "number" && !NO_COUNTERS.has(name) ? [name] : [],
  );
  const measurement = (
    field: string,
    key: Pick<ImportedMeasurement, "metric" | "unit" | "direction">,
    toUnit: (value: number, row: Row) => number = (value) => value,
  ): ImportedMeasurement[] => {
    const values = rows.flatMap(({ row }) => {
      const value = row[field];
      return typeof value === "number" ? [toUnit(value, row)] : [];
    });
    const pointer = `${first.pointer}/${toPointerPart(field)}`;
    return values.length === 0 ? [] : [{ subject, ...key, pointer, ...toNumbers(values) }];
  };
  const toMs = (value: number, row: Row) => value * (millisecondsIn(row.time_unit) ?? Number.NaN);
  return [
    ...measurement("real_time", { metric: "wallMs", unit: "ms", direction: "lower" }, toMs),
    ...measurement("cpu_time", { metric: "cpuMs", unit: "ms", direction: "lower" }, toMs),
    ...measurement("items_per_second", { metric: "itemsPerSecond", unit: "1/s", direction: "higher" }),
    ...measurement("bytes_per_second", { metric: "bytesPerSecond", unit: "B/s", direction: "higher" }),
    ...counters.flatMap((name) => measurement(name, { metric: name, unit: "", direction: directionOf(name) })),
  ];
}

/** Better direction of a counter, which the tool does not report: a rate, by its name, is better if higher. */
function directionOf(counter: string): "lower" | "higher" {
  return /per_?sec|rate|throughput/i.test(counter) ? "higher" : "lower";
}

/** Newer versions write the offset of their time zone; a time without one is ignored. */
function toTime(date: string | undefined): { at?: string } {
  const isFull = date !== undefined && /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:?\d{2})$/.test(date);
  return isFull && Number.isFinite(Date.parse(date)) ? { at: new Date(date).toISOString() } : {};
}
