import type { Client } from "../../src/client/client.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";

const POINTS_PER_REPORT = 1_000;

interface PlantedSeries {
  readonly subject: string;
  readonly points: number;
  readonly startS: number;
  readonly gapS: number;
  /** Samples in milliseconds, by the place of the point. */
  readonly valuesOf: (place: number) => readonly number[];
}

/** Reports one series; returns its id. */
export async function plantPoints(client: Client, series: PlantedSeries): Promise<string> {
  const { subject, points, startS, gapS, valuesOf } = series;
  let id = "";
  for (let first = 0; first < points; first += POINTS_PER_REPORT) {
    const measurements = Array.from({ length: Math.min(POINTS_PER_REPORT, points - first) }, (_, index) => ({
      subject,
      metric: "wallMs",
      unit: "ms",
      at: new Date(1_000 * (startS + gapS * (first + index))).toISOString(),
      values: [...valuesOf(first + index)],
    }));
    const body = { run: `${subject}-${first}`, host: { cpu: "Sample CPU" }, measurements };
    id = (await client.call(endpoints.reportPoints, { body })).series[0] ?? id;
  }
  return id;
}
