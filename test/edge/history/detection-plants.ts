import { env } from "cloudflare:workers";
import type { Alert } from "../../../src/protocol/history/alert.ts";
import type { Fingerprint } from "../../../src/protocol/fleet/hardware.ts";
import { createContentId } from "../../../src/protocol/wire/id.ts";
import type { SeriesKey } from "../../../src/protocol/history/series.ts";
import { tendHistory } from "../../../src/edge/history/tend-history.ts";
import { appendMeasurements, type Measurement } from "../../../src/edge/store/history/point-store.ts";
import { seriesIdOf } from "../../../src/edge/store/history/series-store.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { lehmer } from "../../../src/stats/random/seeded.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import { callEdge } from "../stack/edge-client.ts";

/** Series with known changes, for the tests of detection. */

export const START_MS = Date.parse("2026-06-01T00:00:00.000Z");
export const RUN_GAP_MS = 3_600_000;

export function fingerprintOf(machine: string): Fingerprint {
  return { adapter: machine, driver: "1", dawn: "1", toggles: [], ort: null, cpu: "Sample CPU" };
}

export function keyOf(subject: string, changes: Partial<SeriesKey> = {}): SeriesKey {
  return {
    subjectKind: "kernel",
    subject,
    metric: "wallMs",
    unit: "ms",
    clock: "runner-wall",
    direction: "lower",
    configuration: { n: 64, dtype: "float32" },
    fingerprint: fingerprintOf(`machine of ${subject}`),
    software: false,
    label: null,
    ...changes,
  };
}

const draw = lehmer();

/** This many values around a level, within half a percent of it. */
export function around(level: number, count: number, noise = 0.01): number[] {
  return Array.from({ length: count }, () => level * (1 + noise * (draw() - 0.5)));
}

/** The instant of a run by its number. */
export function timeOf(run: number): string {
  return new Date(START_MS + run * RUN_GAP_MS).toISOString();
}

/** Stores one run for each value, from the run `first` on; all series of the same run have its id. */
export async function plant(
  key: SeriesKey,
  values: readonly number[],
  first = 0,
  project: string = MAIN_PROJECT,
): Promise<string> {
  const points = values.map(async (value, index): Promise<Measurement> => {
    const { count, min, max, sum, sketch } = summarise([value]);
    const runId = await runOf(key.subject, first + index);
    const aggregate = { count, min, max, sum, sketch };
    const atMs = START_MS + (first + index) * RUN_GAP_MS;
    return { project, key, atMs, sourceId: runId, runId, revision: `commit-${first + index}`, aggregate };
  });
  await appendMeasurements(env.DB, await Promise.all(points));
  return (await seriesIdOf(key, project)).id;
}

export function runOf(subject: string, run: number): Promise<string> {
  return createContentId("run", `${subject} ${run}`);
}

/** Runs the scheduled handler of a minute. */
export function tend(): Promise<void> {
  return tendHistory(env, Date.now());
}

export async function alertsOf(subject: string, search = ""): Promise<Alert[]> {
  return (await callEdge("GET", `/v1/history/alerts?subject=${encodeURIComponent(subject)}${search}`)).json.items;
}
