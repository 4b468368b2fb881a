import type { Dimension, GroupDevice, Quantity, SeriesGroup } from "../../../protocol/history/history-query.ts";
import type { SelectedSeries } from "../../store/history/series-store.ts";

type Value = SeriesGroup["group"][string];

/** Grouped series, with their shared fields. */
export interface GroupedSeries extends Quantity {
  readonly group: SeriesGroup["group"];
  readonly device: GroupDevice | null;
  readonly members: readonly SelectedSeries[];
}

/**
 * Groups series by equal values of some dimensions. Different quantities never share a group: another metric, unit,
 * clock or direction, a software device beside a real one, or another value of `apart`.
 */
export function groupSeries(
  series: readonly SelectedSeries[],
  groupBy: readonly Dimension[],
  apart: (series: SelectedSeries) => unknown = () => null,
): GroupedSeries[] {
  const groups = Map.groupBy(series, (one) =>
    JSON.stringify([groupBy.map((dimension) => valueOf(one, dimension)), quantityOf(one), apart(one)]),
  );
  return [...groups.values()].map((members) => toGroup(members, groupBy)).toSorted(byValues);
}

function toGroup(members: readonly SelectedSeries[], groupBy: readonly Dimension[]): GroupedSeries {
  const first = members[0]!;
  const isOneDevice = members.every(({ fingerprintId }) => fingerprintId === first.fingerprintId);
  return {
    ...quantityOf(first),
    group: Object.fromEntries(groupBy.map((dimension) => [dimension, valueOf(first, dimension)])),
    device: isOneDevice ? deviceOf(first) : null,
    members,
  };
}

/** A group in the form of the wire. */
export function toWireGroup({ members, ...group }: GroupedSeries): SeriesGroup {
  return { ...group, series: members.map(({ id }) => id) };
}

/** Quantity that a group measures. */
export function quantityOf({ metric, unit, clock, direction, software }: Quantity): Quantity {
  return { metric, unit, clock, direction, software };
}

/** Device name of a series: a kernel's series has one; others use the start of their fingerprint. */
function deviceOf({ fingerprintId, fingerprint, configuration }: SelectedSeries): GroupDevice | null {
  if (fingerprintId === null) return null;
  const name = configuration["device"] ?? fingerprint?.adapter ?? fingerprint?.cpu ?? fingerprintId;
  return { id: fingerprintId, name: String(name) };
}

function valueOf(series: SelectedSeries, dimension: Dimension): Value {
  switch (dimension) {
    case "series":
      return series.id;
    case "device":
      return series.fingerprintId;
    case "subject":
      return series.subject;
    case "metric":
      return series.metric;
    case "label":
      return series.label;
    case "clock":
      return series.clock;
    case "software":
      return series.software;
    case "variant":
    case "backend":
    case "batch":
    default:
      return series.configuration[dimension.replace(/^configuration\./, "")] ?? null;
  }
}

/** Orders numbers by size, and everything else by its text. */
function byValues(a: GroupedSeries, b: GroupedSeries): number {
  const [left, right] = [a, b].map(({ group, metric, unit, clock, direction, software }) => [
    ...Object.values(group),
    metric,
    unit,
    clock,
    direction,
    software,
  ]);
  for (const [index, value] of (left ?? []).entries()) {
    const order = compareValues(value, right?.[index] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

function compareValues(a: Value, b: Value): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [left, right] = [String(a), String(b)];
  return left < right ? -1 : Number(left > right);
}
