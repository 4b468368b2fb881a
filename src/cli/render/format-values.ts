import type { Requirement } from "../../protocol/models/requirement.ts";
import type { Figures } from "../../words/kinds/kind.ts";
import { createNumbers, writeSizes } from "../../words/numbers.ts";
import { namePercentile } from "../../words/validation.ts";

const NUMBERS = createNumbers(4);
export const { number: formatValue, measure: formatWith, bytes: formatSize } = NUMBERS;

/** As `--require` takes it: `latencyMs p99 <= 10`. */
export function writeRequirement({ metric, percentile, atMost, atLeast }: Requirement): string {
  const of = metric === "latencyMs" ? ` ${namePercentile(percentile ?? 0.99)}` : "";
  return `${metric}${of} ${atMost === undefined ? `>= ${atLeast ?? "?"}` : `<= ${atMost}`}`;
}

/** A terminal's figures: sizes and requirements are written as options take them. */
export const TERMINAL: Figures = { ...NUMBERS, sizes: writeSizes, requirement: writeRequirement };

/** Age or duration: `0.2 s`, `3 min`, `5 h`, `12 d`. */
export function formatSpan(spanMs: number): string {
  const minutes = spanMs / 60_000;
  if (minutes < 1.5) return `${(spanMs / 1e3).toFixed(1)} s`;
  if (minutes < 90) return `${Math.round(minutes)} min`;
  return minutes < 2_880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1_440)} d`;
}

/** Age of an instant. */
export function formatAge(at: string | null, nowMs: number = Date.now()): string {
  return at === null ? "never" : `${formatSpan(Math.max(0, nowMs - Date.parse(at)))} ago`;
}
