import type { RequiredMetric } from "../../protocol/requirement.ts";
import type { LoadPath, ScenarioKind } from "../../protocol/scenario.ts";

/** What was found of one thing that is required, under one scenario and path. */
export interface Evidence {
  readonly metric: RequiredMetric;
  /** Null where it belongs to no scenario. */
  readonly scenario: ScenarioKind | null;
  readonly path: LoadPath | null;
  /** Null where there is no value: `found` says why. */
  readonly measured: number | null;
  /** Between which bounds the true value lies, each with a confidence of 0.99; null where nothing bounds it. */
  readonly low: number | null;
  readonly high: number | null;
  /** Whether the value is known to be less than `high`, not just at most as much. */
  readonly isBelowHigh?: boolean;
  /** A sentence that says what was found, without its full stop. */
  readonly found: string;
  /** What would tell whether a bound is kept, where this does not. */
  readonly wanted: (bound: number) => string;
}
