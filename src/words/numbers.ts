/** Number formats for one kind of reader. */
export interface Numbers {
  /** A measured number: so many significant digits, but never fewer than its whole part. */
  readonly number: (value: number) => string;
  /** A measured number with its unit; a dash where there is none. */
  readonly measure: (value: number | null | undefined, unit: string) => string;
  /** Bytes in binary units; a dash where they are not known. */
  readonly bytes: (bytes: number | null | undefined) => string;
}

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Numbers of so many significant digits. */
export function createNumbers(digits: number): Numbers {
  const short = new Intl.NumberFormat("en", { maximumSignificantDigits: digits });
  const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const number = (value: number) => (Math.abs(value) >= 10 ** digits ? whole : short).format(value);
  const measure = (value: number | null | undefined, unit: string) =>
    value == null ? "–" : `${number(value)} ${unit}`;
  const bytes = (value: number | null | undefined) => {
    const power = Math.min(BINARY.length - 1, Math.floor(Math.log2(Math.max(1, value ?? 1)) / 10));
    return measure(value == null ? null : value / 1024 ** power, BINARY[power] ?? "");
  };
  return { number, measure, bytes };
}

/** The page's numbers. */
export const PAGE_NUMBERS = createNumbers(3);
export const { number: formatNumber, measure: formatMeasure, bytes: formatBytes } = PAGE_NUMBERS;

/** A value with its sign; zero has none. */
export function signed(value: number, format: (value: number) => string): string {
  return `${value < 0 ? "−" : value > 0 ? "+" : ""}${format(Math.abs(value))}`;
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

/** Sizes or axes by name: `m 64, n 64`. */
export function describeSizes(sizes: Readonly<Record<string, number | string>>): string {
  return Object.entries(sizes)
    .map(([name, size]) => `${name} ${size}`)
    .join(", ");
}

/** Sizes or axes as options take them: `m=64,n=64`. */
export function writeSizes(sizes: Readonly<Record<string, number | string>>): string {
  return Object.entries(sizes)
    .map(([name, size]) => `${name}=${size}`)
    .join(",");
}

/** A time of a trace in the unit that it is read best in. */
export function formatTime(us: number): string {
  const size = Math.abs(us);
  if (size >= 1e6) return formatMeasure(us / 1e6, "s");
  if (size >= 1e3) return formatMeasure(us / 1e3, "ms");
  return formatMeasure(us, "µs");
}
