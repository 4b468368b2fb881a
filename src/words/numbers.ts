const threeDigits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A measured number: three significant digits, but never fewer than its whole part. */
export function formatNumber(value: number): string {
  return Math.abs(value) >= 1_000 ? whole.format(value) : threeDigits.format(value);
}

/** A measured number with its unit. */
export function formatMeasure(value: number, unit: string): string {
  return `${formatNumber(value)} ${unit}`;
}

const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

/** A share of all, as per cent; what is not quite all never looks like it. */
export function formatShare(share: number): string {
  return percent.format(share < 1 ? Math.min(share, 0.999) : share);
}

/** A duration as people say it: `840 ms`, `12.4 s`, `3 min 05 s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1_000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 60_000) return `${(durationMs / 1_000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1_000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** Bytes in binary units. */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return formatMeasure(bytes / 1024 ** power, units[power] ?? "");
}

/** Sizes or axes by name: `m 64, n 64`. */
export function describeSizes(sizes: Readonly<Record<string, number>>): string {
  return Object.entries(sizes)
    .map(([name, size]) => `${name} ${size}`)
    .join(", ");
}

/** A time of a trace in the unit that it is read best in. */
export function formatTime(us: number): string {
  const size = Math.abs(us);
  if (size >= 1e6) return formatMeasure(us / 1e6, "s");
  if (size >= 1e3) return formatMeasure(us / 1e3, "ms");
  return formatMeasure(us, "µs");
}
