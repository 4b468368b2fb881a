import type { Fingerprint } from "../../protocol/hardware.ts";
import type { FieldError } from "../../protocol/problem.ts";
import type { ReportedAggregate, ReportedHost, ReportedMeasurement, ReportInput } from "../../protocol/report.ts";
import { type Aggregate, summarise } from "../../stats/distribution.ts";
import { decodeSketch } from "../../stats/sketch.ts";
import type { Measurement } from "../store/point-store.ts";
import { estimateAggregate } from "./estimate-aggregate.ts";

/** What a report leaves in the history, in its order; `atMs` is the time of what has none of its own. */
export function measureReport(
  report: ReportInput,
  { project, runId, atMs }: Pick<Measurement, "project" | "atMs"> & { readonly runId: string },
): Measurement[] {
  const fingerprint = toFingerprint(report.host);
  return report.measurements.map((measured, index) => {
    const { subjectKind, subject, metric, unit, clock = null, direction, configuration, label, at } = measured;
    return {
      project,
      key: {
        subjectKind,
        subject,
        metric,
        unit,
        clock,
        direction,
        configuration,
        fingerprint,
        software: report.software,
        label: label ?? report.label ?? null,
      },
      atMs: at === undefined ? atMs : Date.parse(at),
      // A report may measure one series twice at the same time.
      sourceId: `${runId}:${index}`,
      runId,
      revision: report.revision ?? null,
      aggregate: toAggregate(measured),
    };
  });
}

/** What the schema cannot see of a report: times far ahead of the edge's clock, and sketches that are none. */
export function checkReport({ at, measurements }: ReportInput, latestMs: number): FieldError[] {
  const isAhead = (time: string | undefined) => time !== undefined && Date.parse(time) > latestMs;
  const ahead = (pointer: string) => ({ pointer, message: `must not lie after ${new Date(latestMs).toISOString()}` });
  return [
    ...(isAhead(at) ? [ahead("#/at")] : []),
    ...measurements.flatMap((measured, index) => {
      const pointer = `#/measurements/${index}`;
      const { sketch, count = 0 } = measured.aggregate ?? {};
      const isSound = sketch === undefined || countOf(sketch) === count;
      const message = "must be a sketch of as many values as are counted";
      return [
        ...(isAhead(measured.at) ? [ahead(`${pointer}/at`)] : []),
        ...(isSound ? [] : [{ pointer: `${pointer}/aggregate/sketch`, message }]),
      ];
    }),
  ];
}

function toFingerprint(host: ReportedHost | undefined): Fingerprint | null {
  if (host === undefined) return null;
  const { cpu = "unknown", adapter = null, driver = null, dawn = null, toggles = [], ort = null } = host;
  return { adapter, driver, dawn, toggles, ort, cpu };
}

function toAggregate({ values, value, aggregate }: ReportedMeasurement): Aggregate {
  if (aggregate !== undefined) return fromReported(aggregate);
  const { count, min, max, sum, sketch } = summarise(values ?? [value ?? Number.NaN]);
  return { count, min, max, sum, sketch };
}

function fromReported({ sketch, ...reported }: ReportedAggregate): Aggregate {
  if (sketch === undefined) return estimateAggregate(reported);
  const { count, min, max, sum } = reported;
  return { count, min, max, sum, sketch };
}

/** How many values a sketch holds; NaN where the text is none. */
function countOf(sketch: string): number {
  try {
    return decodeSketch(sketch).count;
  } catch {
    return Number.NaN;
  }
}
