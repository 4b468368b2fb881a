import { formatMeasure } from "../format.ts";

/** A time of a trace in the unit that it is read best in. */
export function formatTime(us: number): string {
  const size = Math.abs(us);
  if (size >= 1e6) return formatMeasure(us / 1e6, "s");
  if (size >= 1e3) return formatMeasure(us / 1e3, "ms");
  return formatMeasure(us, "µs");
}
