import type { SeriesKey, SeriesSelector } from "../../../protocol/series.ts";

/** Whether a selector means a series: the same answer as the one of `selectSeries`, of a series that is here. */
export function isSelected(
  series: SeriesKey & { readonly id: string; readonly fingerprintId: string | null },
  selector: SeriesSelector,
): boolean {
  const isOf = (wanted: unknown, found: unknown) => wanted === undefined || wanted === found;
  const { series: ids, variant, backend, batch, configuration } = selector;
  const fields = Object.entries({ variant, backend, batch, ...configuration });
  return (
    (ids === undefined || ids.includes(series.id)) &&
    isOf(selector.subject, series.subject) &&
    isOf(selector.subjectKind, series.subjectKind) &&
    isOf(selector.metric, series.metric) &&
    isOf(selector.unit, series.unit) &&
    isOf(selector.clock, series.clock) &&
    isOf(selector.label, series.label) &&
    isOf(selector.fingerprint, series.fingerprintId) &&
    isOf(selector.software, series.software) &&
    // Queries name numbers as text.
    fields.every(([name, wanted]) => wanted === undefined || isOf(String(wanted), textOf(series.configuration[name])))
  );
}

function textOf(value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
