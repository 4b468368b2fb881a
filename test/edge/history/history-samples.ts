import { env } from "cloudflare:workers";
import { rollUp } from "../../../src/edge/history/rollup/roll-up.ts";
import { appendMeasurements, type Measurement } from "../../../src/edge/store/history/point-store.ts";
import { seriesIdOf } from "../../../src/edge/store/history/series-store.ts";
import type { Fingerprint } from "../../../src/protocol/fleet/hardware.ts";
import type { SeriesKey } from "../../../src/protocol/history/series.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";

let sources = 0;

export function fingerprintNamed(adapter: string): Fingerprint {
  return { adapter, driver: "1.0", dawn: "0.6.2", toggles: [], ort: null, cpu: "Sample CPU" };
}

/** A point of values at a time, in a sample series with these changes. */
export function measured(
  key: Partial<SeriesKey>,
  atMs: number,
  values: readonly number[],
  more: Partial<Pick<Measurement, "project" | "runId" | "revision" | "sourceId">> = {},
): Measurement {
  const { count, min, max, sum, sketch } = summarise(values);
  return {
    project: MAIN_PROJECT,
    key: {
      subjectKind: "kernel",
      subject: "sample",
      metric: "wallMs",
      unit: "ms",
      clock: "runner-wall",
      direction: "lower",
      configuration: {},
      fingerprint: null,
      software: false,
      label: null,
      ...key,
    },
    atMs,
    sourceId: `source-${sources++}`,
    runId: null,
    aggregate: { count, min, max, sum, sketch },
    ...more,
  };
}

export function append(...measurements: Measurement[]): Promise<void> {
  return appendMeasurements(env.DB, measurements);
}

export async function idOf(measurement: Measurement): Promise<string> {
  return (await seriesIdOf(measurement.key, measurement.project)).id;
}

export async function rollUpAll(): Promise<void> {
  while (!(await rollUp(env.DB, 10)).isDone);
}
