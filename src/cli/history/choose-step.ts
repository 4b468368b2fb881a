const UNITS_MS = { s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3 } as const;
const STEPS = ["1m", "5m", "15m", "1h", "6h", "1d", "7d", "28d"];
/** Columns of a sparkline, and rows of a table, unless told. */
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
