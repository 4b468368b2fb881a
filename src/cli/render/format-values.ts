const DIGITS = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const BINARY = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A measured number: four digits that count, and never fewer than its whole part. */
export function formatValue(value: number): string {
  return (Math.abs(value) >= 1e4 ? WHOLE : DIGITS).format(value);
}

/** A value with its unit; a dash where there is none. */
export function formatWith(value: number | null | undefined, unit: string): string {
  return value == null ? "–" : `${formatValue(value)} ${unit}`;
}

/** A size such as `1.5 MiB`; a dash where it is not known. */
export function formatSize(sizeBytes: number | null): string {
  if (sizeBytes === null) return "–";
  const power = Math.min(BINARY.length - 1, Math.max(0, Math.floor(Math.log2(sizeBytes || 1) / 10)));
  return formatWith(sizeBytes / 2 ** (10 * power), BINARY[power] ?? "");
}

/** How long something takes or took: `0.2 s`, `3 min`, `5 h`, `12 d`. */
export function formatSpan(spanMs: number): string {
  const minutes = spanMs / 60_000;
  if (minutes < 1.5) return `${(spanMs / 1e3).toFixed(1)} s`;
  if (minutes < 90) return `${Math.round(minutes)} min`;
  return minutes < 2_880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1_440)} d`;
}

/** How long ago that was. */
export function formatAge(at: string | null, nowMs: number = Date.now()): string {
  return at === null ? "never" : `${formatSpan(Math.max(0, nowMs - Date.parse(at)))} ago`;
}

/** Values by name, as options take them: `m=256,n=256`. */
export function formatSizes(sizes: Readonly<Record<string, number | string>>): string {
  return Object.entries(sizes)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
}
