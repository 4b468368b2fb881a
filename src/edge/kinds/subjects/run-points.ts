import type { SeriesKey } from "../../../protocol/history/series.ts";
import type { Clock, Distribution } from "../../../protocol/wire/distribution.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";
import type { Measurement } from "../../store/history/point-store.ts";
import type { RunContext } from "../kind.ts";

/** A run's subject and surroundings, which all of its points share. */
type PointSubject = Omit<
  SeriesKey,
  "metric" | "unit" | "direction" | "clock" | "label" | "fingerprint" | "software"
> & {
  readonly environment: Pick<SeriesKey, "software"> & { readonly fingerprint: NonNullable<SeriesKey["fingerprint"]> };
};

type MakePoint = (
  metric: string,
  unit: string,
  direction: SeriesKey["direction"],
  measured: number | Distribution,
  clock?: Clock | null,
) => Measurement;

/** Makes the points of one run, each a distribution or a single value. */
export function pointsOf(
  { project, runId, atMs, label }: RunContext,
  { environment: { fingerprint, software }, ...subject }: PointSubject,
): MakePoint {
  return (metric, unit, direction, measured, clock = null) => {
    const { count, min, max, sum, sketch } = typeof measured === "number" ? summarise([measured]) : measured;
    return {
      project,
      key: { ...subject, fingerprint, software, label, metric, unit, direction, clock },
      atMs,
      sourceId: runId,
      runId,
      aggregate: { count, min, max, sum, sketch },
    };
  };
}
