import type { Fingerprint } from "../../../protocol/fleet/hardware.ts";
import type {
  ReportedAggregate,
  ReportedHost,
  ReportedMeasurement,
  ReportInput,
} from "../../../protocol/history/report.ts";
import type { FieldError } from "../../../protocol/wire/problem.ts";
import { addToDistribution, type Aggregate, openDistribution } from "../../../stats/distribution/distribution.ts";
import { addToSketch, createSketch, decodeSketch, encodeSketch } from "../../../stats/distribution/sketch.ts";
import type { Measurement } from "../../store/history/point-store.ts";
import { endShortTurn } from "../../turns.ts";

/**
 * Aggregate of values with only some known percentiles. The extremes count once; each other value equals the known
 * percentile nearest to its rank, or the mean where none is known. Known percentiles are reproduced exactly.
 */
export function estimateAggregate({ count, min, max, sum, percentiles = {} }: ReportedAggregate): Aggregate {
  const known = Object.entries(percentiles)
    .map(([name, value]) => ({ p: Number(name.slice(1)) / 100, value }))
    .toSorted((a, b) => a.p - b.p);
  const knots = known.length > 0 ? known : [{ p: 0.5, value: sum / count }];
  const sketch = createSketch();
  addToSketch(sketch, min);
  if (count > 1) addToSketch(sketch, max);
  let rank = 1;
  for (const [index, { p, value }] of knots.entries()) {
    const next = knots[index + 1];
    const end = next === undefined ? count - 1 : Math.min(count - 1, Math.floor((count * (p + next.p)) / 2));
    if (end > rank) addToSketch(sketch, Math.min(max, Math.max(min, value)), end - rank);
    rank = Math.max(rank, end);
  }
  return { count, min, max, sum, sketch: encodeSketch(sketch) };
}

/** Points of a report for the history, in its order; `atMs` is the time of measurements without their own. */
export async function measureReport(
  report: ReportInput,
  { project, runId, atMs }: Pick<Measurement, "project" | "atMs"> & { readonly runId: string },
): Promise<Measurement[]> {
  const fingerprint = toFingerprint(report.host);
  const measurements: Measurement[] = [];
  for (const [index, measured] of report.measurements.entries()) {
    const { subjectKind, subject, metric, unit, clock = null, direction, configuration, label, at } = measured;
    measurements.push({
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
      aggregate: await toAggregate(measured),
    });
  }
  return measurements;
}

/** Checks beyond the schema: times far ahead of the edge's clock, and invalid sketches. */
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

/** Values that are added up in a short turn: about a millisecond. */
const TURN_VALUES = 8_192;

async function toAggregate({ values, value, aggregate }: ReportedMeasurement): Promise<Aggregate> {
  if (aggregate !== undefined) return fromReported(aggregate);
  const open = openDistribution();
  for (const [index, each] of (values ?? [value ?? Number.NaN]).entries()) {
    if (index > 0 && index % TURN_VALUES === 0) await endShortTurn();
    addToDistribution(open, each);
  }
  const { count, min, max, sum, sketch } = open;
  return { count, min, max, sum, sketch: encodeSketch(sketch) };
}

function fromReported({ sketch, ...reported }: ReportedAggregate): Aggregate {
  if (sketch === undefined) return estimateAggregate(reported);
  const { count, min, max, sum } = reported;
  return { count, min, max, sum, sketch };
}

/** Number of values in a sketch; NaN where the text is not a sketch. */
function countOf(sketch: string): number {
  try {
    return decodeSketch(sketch).count;
  } catch {
    return Number.NaN;
  }
}
