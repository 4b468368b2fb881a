import type { ComparedPair, ComparedSide } from "../../protocol/comparison.ts";

/** `12.34 ms`, and how many runs it rests on. */
export function formatSide({ value, runs, samples }: ComparedSide, unit: string): string {
  const count = runs > 0 ? `${runs} ${runs === 1 ? "run" : "runs"}` : `${samples} samples`;
  return `${Number(value.toPrecision(4))} ${unit} (${count})`;
}

/** `+5.3 % (+2.1 to +8)`: B's change with its interval, as shares of A; a difference where there is no ratio. */
export function formatChange({ ratio, difference, key }: ComparedPair): string {
  const estimate = ratio ?? difference;
  const scale = (value: number) => signed(ratio === null ? value : 100 * (value - 1));
  const unit = ratio === null ? key.unit : "%";
  const { interval } = estimate;
  return `${scale(estimate.value)} ${unit}${interval === null ? "" : ` (${scale(interval.low)} to ${scale(interval.high)})`}`;
}

function signed(value: number): string {
  const rounded = Number(value.toPrecision(3));
  return rounded > 0 ? `+${rounded}` : String(rounded).replace("-", "−");
}

/** The adjusted p-value as tables show it. */
export function formatP(p: number | null): string {
  if (p === null) return "–";
  return p < 0.0001 ? "< 0.0001" : String(Number(p.toPrecision(2)));
}
