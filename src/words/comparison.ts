import type { ComparedPair, ComparedSide, ComparisonReply } from "../protocol/history/comparison.ts";
import type { Tone } from "./tone.ts";

/** Tone and text of each verdict of a comparison. */
export const PAIR_VERDICTS: Record<ComparedPair["verdict"], readonly [Tone, string]> = {
  better: ["good", "B is better"],
  worse: ["bad", "B is worse"],
  same: ["quiet", "no difference"],
  unclear: ["warn", "cannot tell"],
};

/** Why a series has no partner on the other side. */
export const UNPAIRED: Record<ComparisonReply["unpaired"][number]["reason"], string> = {
  "no-partner": "no series of the other side is alike",
  "no-runs": "nothing was measured here or there",
  "same-runs": "both sides hold the same runs",
};

/** Number of runs or samples behind a side. */
export function countRuns({ runs, samples }: Pick<ComparedSide, "runs" | "samples">): string {
  if (runs === 0) return `${samples} samples`;
  return `${runs} ${runs === 1 ? "run" : "runs"}`;
}

/** An adjusted p-value; a dash where nothing was tested. */
export function formatP(p: number | null): string {
  if (p === null) return "–";
  return p < 0.0001 ? "< 0.0001" : String(Number(p.toPrecision(2)));
}
