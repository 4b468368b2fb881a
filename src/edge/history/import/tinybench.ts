import { parseInput } from "../../../protocol/wire/parse-input.ts";
import { z } from "zod";
import { type Imported, type ImportedMeasurement, toImported, toNumbers, WALL } from "./imported.ts";

const PERCENTILES = { p50: "p50", p75: "p75", p99: "p99", p995: "p99.5", p999: "p99.9" } as const;

const optional = z.number().nullish();
/** In milliseconds. */
const Statistics = z.object({
  samples: z.array(z.number()).nullish(),
  samplesCount: z.number().int().min(1).optional(),
  df: z.number().int().min(0).optional(),
  min: z.number(),
  max: z.number(),
  mean: z.number(),
  p50: optional,
  p75: optional,
  p99: optional,
  p995: optional,
  p999: optional,
});
type Statistics = z.infer<typeof Statistics>;

/** Version 2 has the statistics in the result itself, later ones in `latency`. */
const Later = z.object({ latency: Statistics, runtime: z.string().optional() });

const Tasks = z.array(
  z.object({
    name: z.string(),
    result: z.looseObject({ error: z.unknown().optional(), state: z.string().optional() }).nullish(),
  }),
);
const Wrapped = z.object({ tasks: Tasks });

/** States of a measured task after version 4; earlier versions report none. */
const MEASURED: ReadonlySet<string | undefined> = new Set([undefined, "completed", "aborted-with-statistics"]);

/**
 * Results of tinybench as `bench.tasks.map(({ name, result }) => ({ name, result }))`, or `{tasks: […]}` of the same.
 * Left out: tasks that failed or never ran, and throughput, the reciprocal of latency.
 */
export function importTinybench(json: unknown): Imported {
  const [tasks, place] = Array.isArray(json)
    ? [parseInput(Tasks, json), "#"]
    : [parseInput(Wrapped, json).tasks, "#/tasks"];
  return toImported(
    tasks.flatMap(({ name, result }, index): ImportedMeasurement[] => {
      if (result == null || result.error !== undefined || !MEASURED.has(result.state)) return [];
      const pointer = `${place}/${index}/result`;
      const { latency, runtime } =
        "latency" in result
          ? parseInput(Later, result, pointer)
          : { latency: parseInput(Statistics, result, pointer), runtime: undefined };
      const configuration = runtime === undefined ? {} : { runtime };
      return [{ subject: name, ...WALL, configuration, ...numbersOf(latency), pointer }];
    }),
  );
}

function numbersOf({ samples, samplesCount, df = 0, min, max, mean, ...percentiles }: Statistics) {
  if (samples && samples.length > 0) return toNumbers(samples);
  const count = samplesCount ?? df + 1;
  const known = Object.entries(PERCENTILES).flatMap(([field, name]) => {
    const value = percentiles[field as keyof typeof PERCENTILES];
    return typeof value === "number" ? [[name, value] as const] : [];
  });
  const estimates = known.length === 0 ? {} : { percentiles: Object.fromEntries(known) };
  return { aggregate: { count, min, max, sum: mean * count, ...estimates } };
}
