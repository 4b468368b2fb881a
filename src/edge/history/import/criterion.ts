import { parseInput } from "../../../protocol/wire/parse-input.ts";
import { z } from "zod";
import { type Imported, type ImportedMeasurement, millisecondsIn, toImported, toNumbers, WALL } from "./imported.ts";

const Estimate = z.object({ point_estimate: z.number() });

/** A line of `cargo criterion --message-format=json` that ends a benchmark; its values are totals of iterations. */
const Complete = z
  .object({
    reason: z.literal("benchmark-complete"),
    id: z.string(),
    iteration_count: z.array(z.number().positive()),
    measured_values: z.array(z.number()),
    unit: z.string(),
  })
  .refine((line) => line.iteration_count.length === line.measured_values.length, {
    path: ["iteration_count"],
    message: "must be as many as measured_values",
  });

/** Other lines: the end of a group, or any later message type. */
const AnyEntry = z.object({ reason: z.string().optional() });

/** The files that Criterion.rs leaves in `target/criterion/…/new`, put together; times are totals in nanoseconds. */
const Files = z
  .object({
    full_id: z.string().optional(),
    iters: z.array(z.number().positive()).optional(),
    times: z.array(z.number()).optional(),
    mean: Estimate.optional(),
  })
  .refine(({ iters, times }) => iters?.length === times?.length, {
    path: ["iters"],
    message: "must be as many as times",
  })
  .refine(({ times, mean }) => times !== undefined || mean !== undefined, {
    message: "must hold sample.json or estimates.json",
  });

/** Name of a benchmark whose files give none, unless `subject` does. */
const UNNAMED = "criterion";

/**
 * Results of Criterion.rs: lines of cargo-criterion (its book, "External Tools"), or objects of `benchmark.json`,
 * `estimates.json` and `sample.json` together, one or several. A sample is the time of one iteration.
 */
export function importCriterion(json: unknown): Imported {
  const entries = Array.isArray(json)
    ? json.map((entry: unknown, index) => ({ entry, pointer: `#/${index}` }))
    : [{ entry: json, pointer: "#" }];
  return toImported(entries.flatMap(({ entry, pointer }) => readEntry(entry, pointer)));
}

function readEntry(json: unknown, pointer: string): ImportedMeasurement[] {
  const { reason } = parseInput(AnyEntry, json, pointer);
  if (reason === undefined) return [readFiles(parseInput(Files, json, pointer), pointer)];
  return reason === "benchmark-complete" ? [readLine(parseInput(Complete, json, pointer), pointer)] : [];
}

function readLine({ id, iteration_count, measured_values, unit }: z.infer<typeof Complete>, pointer: string) {
  const toMs = millisecondsIn(unit);
  const values = measured_values.map((value, index) => (value * (toMs ?? 1)) / (iteration_count[index] ?? Number.NaN));
  const key = toMs === undefined ? { metric: "measured", unit } : WALL;
  return { subject: id, ...key, ...toNumbers(values), pointer: `${pointer}/measured_values` };
}

function readFiles({ full_id = UNNAMED, iters = [], times, mean }: z.infer<typeof Files>, pointer: string) {
  const values = times?.map((time, index) => time / (iters[index] ?? Number.NaN)) ?? [];
  const [ns, field] = values.length > 0 ? [values, "times"] : [[mean?.point_estimate ?? Number.NaN], "mean"];
  const numbers = toNumbers(ns.map((value) => value * 1e-6));
  return { subject: full_id, ...WALL, ...numbers, pointer: `${pointer}/${field}` };
}
