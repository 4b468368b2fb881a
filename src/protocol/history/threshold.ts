import { z } from "zod";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, Name, pageOf } from "../wire/page.ts";
import { selectorFields } from "./series.ts";

/** Statistic of a point that a rule judges. */
export const Statistic = z.enum(["p50", "p95", "p99", "mean", "min", "max"]).meta({ id: "Statistic" });
export type Statistic = z.infer<typeof Statistic>;

export const ThresholdTest = z
  .enum(["static", "percentage", "z-score", "t-test", "log-normal", "iqr", "delta-iqr"])
  .meta({ id: "ThresholdTest" });

const thresholdFields = {
  name: Name,
  test: ThresholdTest,
  lower: z.number().optional().meta({ description: "Limit downwards, in the measure of the test; absent: none" }),
  upper: z.number().optional().meta({ description: "Limit upwards, in the measure of the test; absent: none" }),
  statistic: Statistic.default("p50"),
  windowPoints: z.number().int().min(2).max(LIMITS.thresholdWindow).default(64).meta({
    description: "Points of history that a point is judged by, the latest ones",
  }),
  minSample: z.number().int().min(2).max(LIMITS.thresholdWindow).default(5).meta({
    description: "With fewer points of history there is no verdict",
  }),
  noiseFloor: z.number().min(0).max(1).default(0.01).meta({
    description: "Share of the baseline that counts as noise, however quiet the history was",
  }),
  minimumEffect: z.number().min(0).max(1_000).default(0).meta({
    description: "Share of the baseline below which nothing is beyond a limit",
  }),
  consecutive: z.number().int().min(1).max(LIMITS.consecutivePoints).default(1).meta({
    description: "Points in a row beyond a limit before it counts",
  }),
};

/** Between which bounds the limits of a test lie. */
const BOUNDARY: Record<z.infer<typeof ThresholdTest>, { readonly holds: (limit: number) => boolean; text: string }> = {
  static: { holds: () => true, text: "" },
  percentage: { holds: (limit) => limit > 0, text: "must be a share of the mean above 0" },
  "z-score": { holds: isUpperProbability, text: "must be a probability above 0.5 and below 1" },
  "t-test": { holds: isUpperProbability, text: "must be a probability above 0.5 and below 1" },
  "log-normal": { holds: isUpperProbability, text: "must be a probability above 0.5 and below 1" },
  iqr: { holds: (limit) => limit > 0, text: "must be a multiple of the interquartile range above 0" },
  "delta-iqr": { holds: (limit) => limit > 0, text: "must be a multiple of the interquartile range above 0" },
};

function isUpperProbability(limit: number): boolean {
  return limit > 0.5 && limit < 1;
}

/** A rule by which points of the selected series are judged. */
export const ThresholdInput = z
  .strictObject({ ...thresholdFields, selector: z.strictObject(selectorFields) })
  .superRefine(({ test, lower, upper, minSample, consecutive, windowPoints }, context) => {
    const refuse = (field: string, message: string) => context.addIssue({ code: "custom", path: [field], message });
    const { holds, text } = BOUNDARY[test];
    if (lower === undefined && upper === undefined) refuse("upper", "is missing: a rule has a lower or an upper limit");
    if (lower !== undefined && !holds(lower)) refuse("lower", text);
    if (upper !== undefined && !holds(upper)) refuse("upper", text);
    if (test === "static" && lower !== undefined && upper !== undefined && lower >= upper)
      refuse("upper", "must be above the lower limit");
    if (minSample > windowPoints) refuse("minSample", "must not be more than windowPoints");
    if (consecutive > windowPoints) refuse("consecutive", "must not be more than windowPoints");
  })
  .meta({ id: "ThresholdInput" });
export type ThresholdInput = z.infer<typeof ThresholdInput>;

export const Threshold = z
  .object({
    id: idSchema("threshold"),
    ...thresholdFields,
    selector: z.object(selectorFields),
    version: z.number().int(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "Threshold" });
export type Threshold = z.infer<typeof Threshold>;
export const ThresholdPage = pageOf(Threshold, "Threshold");

export const ThresholdTrialInput = z
  .strictObject({ threshold: ThresholdInput, series: idSchema("series") })
  .meta({ id: "ThresholdTrialInput" });

/** Verdict of a rule on one point. */
const JudgedPoint = z
  .object({
    at: Instant,
    value: z.number(),
    verdict: z.enum(["pass", "regression", "improvement", "insufficient-history", "unusable-history"]),
    baseline: z.number().nullable(),
    lowerLimit: z.number().nullable(),
    upperLimit: z.number().nullable(),
    runId: idSchema("run").nullable(),
    revision: z.string().nullable(),
  })
  .meta({ id: "JudgedPoint" });

/** Verdicts of a rule over the history of a series. */
export const ThresholdTrial = z
  .object({
    points: z.array(JudgedPoint),
    alerts: z.array(
      z.object({
        direction: z.enum(["regression", "improvement"]),
        at: Instant,
        returnedAt: Instant.nullable().meta({ description: "When points were within the limits again" }),
      }),
    ),
    truncated: z.boolean(),
  })
  .meta({ id: "ThresholdTrial" });
export type ThresholdTrial = z.infer<typeof ThresholdTrial>;
