import type { HistoryQueryReply } from "../../protocol/history/history-query.ts";
import type { HistoryPoint } from "../../protocol/history/history.ts";
import type { Series } from "../../protocol/history/series.ts";
import { writeSizes } from "../../words/numbers.ts";
import { markSoftware } from "../../words/runners.ts";
import { formatValue } from "../render/format-values.ts";
import { renderTable } from "../render/render-table.ts";
import { sparkline } from "../render/sparkline.ts";

const UNITS_MS = { s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3 } as const;
const STEPS = ["1m", "5m", "15m", "1h", "6h", "1d", "7d", "28d"];
/** Default columns of a sparkline, and default rows of a table. */
const POINTS = 48;

/** Milliseconds of a span such as `30m`, `7d`; null where it is none. */
export function spanMs(text: string): number | null {
  const [, count = "", unit = ""] = /^([1-9]\d{0,4})([smhd])$/.exec(text) ?? [];
  return count === "" ? null : Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

/** The shortest usual step by which a span has no more points than a line has columns. */
export function chooseStep(wholeMs: number): string {
  return STEPS.find((step) => wholeMs / (spanMs(step) ?? 1) <= POINTS) ?? "28d";
}

type Group = HistoryQueryReply["groups"][number];
const SPARKLINE_COLUMNS = 48;

/** Several series a line each, with the course of their medians; a single one as a table over time. */
export function renderHistory(
  { groups, from, to, step, truncated }: HistoryQueryReply,
  series: ReadonlyMap<string, Series>,
  columns: number | undefined,
): string {
  const [only, another] = groups;
  if (only === undefined) return `Nothing was measured from ${from} to ${to} that is of this.\n`;
  if (another === undefined) return `${nameGroup(only, series)}\n${renderPoints(only, columns)}`;
  // Times before the first measurement get no columns.
  const first = groups.flatMap(({ points }) => points.slice(0, 1).map(({ at }) => at)).toSorted()[0] ?? from;
  const named = groups.map((group) => ({ group, name: nameGroup(group, series) }));
  const rows = named
    .toSorted((a, b) => a.name.localeCompare(b.name, "en"))
    .map(({ group, name }) => {
      const last = group.points.at(-1);
      const samples = group.points.reduce((sum, { count }) => sum + count, 0);
      const latest = last === undefined ? "–" : `${formatValue(medianOf(last))} ${group.unit}`;
      return [name, courseOf(group, { from: first, to, step }), latest, formatValue(samples)];
    });
  const table = renderTable([["series", `p50 by ${step ?? "all"}`, "last", "samples"], ...rows], columns);
  return `${table}${from} to ${to}${truncated ? "; there are more: narrow them down" : ""}\n`;
}

function renderPoints({ points, unit }: Group, columns: number | undefined): string {
  const rows = points.map(({ at, count, min, mean, max, percentiles }) => [
    at.replace(".000Z", "Z"),
    formatValue(count),
    ...[min, percentiles["p50"], percentiles["p95"], percentiles["p99"], max, mean].map((value) =>
      value === undefined ? "–" : formatValue(value),
    ),
  ]);
  const heads = ["at", "samples", "min", "p50", "p95", "p99", `max ${unit}`, "mean"];
  return `${renderTable([heads, ...rows], columns)}${sparkline(points.map(medianOf))}\n`;
}

/** Medians in even steps of time, a gap where nothing was measured. */
function courseOf({ points }: Group, { from, to, step }: Pick<HistoryQueryReply, "from" | "to" | "step">): string {
  const stepMs = step === null ? null : spanMs(step);
  const startMs = Date.parse(from);
  if (stepMs === null) return sparkline(points.map(medianOf));
  const columns = Math.max(1, Math.min(SPARKLINE_COLUMNS, Math.ceil((Date.parse(to) - startMs) / stepMs)));
  const widthMs = (Date.parse(to) - startMs) / columns;
  const values = Array.from({ length: columns }, (): number | null => null);
  for (const point of points) {
    values[Math.min(columns - 1, Math.max(0, Math.floor((Date.parse(point.at) - startMs) / widthMs)))] =
      medianOf(point);
  }
  return sparkline(values).trimEnd();
}

function medianOf({ percentiles, mean }: HistoryPoint): number {
  return percentiles["p50"] ?? mean;
}

/** Distinguishing parts of a series' name: subject, metric, configuration, device, clock, label. */
function nameGroup(group: Group, all: ReadonlyMap<string, Series>): string {
  const [id = ""] = group.series;
  const series = all.get(id);
  if (series === undefined) return `${id} ${group.metric}`;
  const { subject, metric, label } = series;
  // The device is named behind it.
  const { device: _, ...configuration } = series.configuration;
  const device = group.device === null ? "" : `on ${markSoftware(group.device.name, group.software)}`;
  const parts = [subject, metric, writeSizes(configuration), device, label ?? ""];
  return parts.filter((part) => part !== "").join(" ");
}
