export const FONT_PX = 12;

/** Approximate width of a letter of a proportional typeface, as a share of its size: text cannot be measured here. */
const LETTER = 0.53;

/** Approximate width of a text, in pixels. */
export function textWidth(text: string, fontPx = FONT_PX): number {
  return text.length * fontPx * LETTER;
}

/** Text cut to approximately this width; a cut text ends with an ellipsis. */
export function shortenText(text: string, widthPx: number, fontPx = FONT_PX): string {
  const fitting = Math.floor(widthPx / textWidth("n", fontPx));
  return text.length <= fitting ? text : `${text.slice(0, Math.max(1, fitting - 1))}…`;
}

const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const compact = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, notation: "compact" });

/** Number of a tick: grouped digits, in thousands or millions where it is long. */
export function tickText(value: number): string {
  return (value >= 100_000 ? compact : digits).format(value);
}

const measured = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A measured number: three significant digits, but never fewer than its whole part. */
export function valueText(value: number): string {
  return value >= 1_000 ? whole.format(value) : measured.format(value);
}

/** `p99`, `p99.9`. */
export function percentileText(percentile: number): string {
  return `p${Number((percentile * 100).toFixed(3))}`;
}
