import { parseInput } from "../../../protocol/wire/parse-input.ts";
import { z } from "zod";
import { type Imported, type ImportedMeasurement, toImported, toNumbers, WALL } from "./imported.ts";

const MS_PER_NS = 1e-6;
const PERCENTILES = { p25: "p25", p50: "p50", p75: "p75", p99: "p99", p999: "p99.9" } as const;

const optional = z.number().nullish();
/** In nanoseconds. `ticks` counts iterations; a sample may be the mean of several. */
const Stats = z.object({
  samples: z.array(z.number()).nullish(),
  min: z.number(),
  max: z.number(),
  avg: z.number(),
  ticks: z.number().int().min(1).default(1),
  p25: optional,
  p50: optional,
  p75: optional,
  p99: optional,
  p999: optional,
});

const Output = z.object({
  layout: z.array(z.object({ name: z.string().nullable() })).default([]),
  /** From version 1.0 on. */
  context: z
    .object({
      now: z.number().min(0).max(8.64e15).optional(),
      runtime: z.string().nullish(),
      cpu: z.object({ name: z.string().nullish() }).optional(),
    })
    .default({}),
  /** In version 0.1. */
  cpu: z.string().optional(),
  benchmarks: z.array(
    z.object({
      alias: z.string().optional(),
      group: z.union([z.number(), z.string()]).nullish(),
      runs: z
        .array(
          z.object({
            name: z.string(),
            args: z.record(z.string(), z.unknown()).default({}),
            stats: Stats.optional(),
          }),
        )
        .optional(),
      name: z.string().optional(),
      stats: Stats.optional(),
    }),
  ),
});
type Benchmark = z.infer<typeof Output>["benchmarks"][number];

/**
 * Output of mitata with `format: "json"` (1.0) or `json: true` (0.1). A run with arguments is one point of its
 * benchmark's series, at those arguments. Group and runtime become configuration. Runs that threw are left out.
 */
export function importMitata(json: unknown): Imported {
  const { layout, context, cpu = context.cpu?.name, benchmarks } = parseInput(Output, json);
  const runtime = context.runtime ?? undefined;
  const measured = benchmarks.flatMap((benchmark, index) => {
    const group = typeof benchmark.group === "number" ? layout[benchmark.group]?.name : benchmark.group;
    const around = { ...(group && { group }), ...(runtime !== undefined && { runtime }) };
    return measureRuns(benchmark, around, `#/benchmarks/${index}`);
  });
  return toImported(measured, {
    ...(context.now !== undefined && { at: new Date(context.now).toISOString() }),
    ...(cpu && { host: { cpu } }),
  });
}

function measureRuns(
  { alias, runs, name, stats }: Benchmark,
  around: Record<string, string>,
  place: string,
): ImportedMeasurement[] {
  if (runs === undefined) {
    return stats === undefined || name === undefined
      ? []
      : [{ subject: name, ...WALL, configuration: around, ...numbersOf(stats), pointer: `${place}/stats` }];
  }
  return runs.flatMap((run, index) => {
    if (run.stats === undefined) return [];
    const args = Object.entries(run.args).map(([key, value]) => [key, toConfigured(value)] as const);
    return [
      {
        subject: args.length === 0 ? run.name : withoutArguments(alias ?? run.name),
        ...WALL,
        configuration: { ...around, ...Object.fromEntries(args) },
        ...numbersOf(run.stats),
        pointer: `${place}/runs/${index}/stats`,
      },
    ];
  });
}

function numbersOf({ samples, min, max, avg, ticks, ...percentiles }: z.infer<typeof Stats>) {
  if (samples && samples.length > 0) return toNumbers(samples.map((ns) => ns * MS_PER_NS));
  const known = Object.entries(PERCENTILES).flatMap(([field, name]) => {
    const value = percentiles[field as keyof typeof PERCENTILES];
    return typeof value === "number" ? [[name, value * MS_PER_NS] as const] : [];
  });
  return {
    aggregate: {
      count: ticks,
      min: min * MS_PER_NS,
      max: max * MS_PER_NS,
      sum: avg * ticks * MS_PER_NS,
      ...(known.length > 0 && { percentiles: Object.fromEntries(known) }),
    },
  };
}

/** Name without the placeholders of arguments, such as `sum $size`. */
function withoutArguments(alias: string): string {
  const left = alias.replaceAll(/\$\w+/g, "").replaceAll(/\s+/g, " ").trim();
  return left === "" ? alias : left;
}

function toConfigured(value: unknown): string | number {
  return typeof value === "string" || typeof value === "number" ? value : JSON.stringify(value ?? null);
}
