import type { z } from "zod";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { ReportInput } from "../../../protocol/history/report.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";

/** A tool's output in our form, with the place of each measurement in the original. */
export interface Imported {
  readonly report: Pick<z.input<typeof ReportInput>, "at" | "host" | "measurements">;
  /** JSON pointers into the tool's output, one for each measurement. */
  readonly pointers: readonly string[];
}

export type ImportedMeasurement = z.input<typeof ReportInput>["measurements"][number] & { readonly pointer: string };

/** Separates measurements from their places. */
export function toImported(
  measured: readonly ImportedMeasurement[],
  context: Omit<Imported["report"], "measurements"> = {},
): Imported {
  const [measurements, pointers]: [Imported["report"]["measurements"], string[]] = [[], []];
  for (const { pointer, ...measurement } of measured) {
    measurements.push(measurement);
    pointers.push(pointer);
  }
  return { report: { ...context, measurements }, pointers };
}

type Numbers = Pick<ImportedMeasurement, "value" | "values" | "aggregate">;

/** Measurement of some values: a single value as it is; more than a measurement may hold are added up exactly. */
export function toNumbers(values: readonly number[]): Numbers {
  const [first, second] = values;
  if (first !== undefined && second === undefined) return { value: first };
  if (values.length <= LIMITS.reportedSamples) return { values: [...values] };
  const { count, min, max, sum, sketch } = summarise(values);
  return { aggregate: { count, min, max, sum, sketch } };
}

/** A wall time in milliseconds, smaller is better: the usual metric of tools. */
export const WALL = { metric: "wallMs", unit: "ms", direction: "lower" } as const;

/** Milliseconds of a tool's unit of time; undefined for other texts. */
export function millisecondsIn(unit: string): number | undefined {
  const known: Readonly<Record<string, number>> = { ps: 1e-9, ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1e3 };
  return Object.hasOwn(known, unit) ? known[unit] : undefined;
}
