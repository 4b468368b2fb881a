import { z } from "zod";
import { Backend } from "../fleet/hardware.ts";
import { idSchema } from "../wire/id.ts";
import { Instant } from "../wire/page.ts";
import { Step } from "./history.ts";

/** Confidences that predictions are judged at; one between two counts for the lower. */
const LEVELS = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.995, 0.999] as const;

/** The level that a prediction made with this confidence is judged at. */
export function calibratedLevel(confidence: number): number {
  return LEVELS.findLast((level) => level <= confidence) ?? LEVELS[0];
}

export const PredictionCalibrationQuery = z
  .strictObject({
    model: z.string().max(128).optional().meta({ description: "Such as `lenet5@1`" }),
    placement: idSchema("placement").optional().meta({ description: "Predictions of this placement only" }),
    confidence: z.coerce
      .number()
      .min(0.5)
      .max(0.999)
      .optional()
      .meta({ description: "Predictions of this confidence only" }),
    from: Instant.optional().meta({ description: "Absent: from the beginning" }),
    to: Instant.optional().meta({ description: "Absent: to the end" }),
    step: Step.default("1h").meta({ description: "Counts of the same step are added up" }),
  })
  .refine(
    (query) => query.from === undefined || query.to === undefined || Date.parse(query.from) < Date.parse(query.to),
    { path: ["to"], message: "must lie after from" },
  );
export type PredictionCalibrationQuery = z.infer<typeof PredictionCalibrationQuery>;

const counts = {
  requests: z.number().int().meta({ description: "Admitted because they were predicted to be in time" }),
  inTime: z.number().int().meta({ description: "Of these, answered within their budget" }),
  asPredicted: z.number().int().meta({ description: "Of these, answered within the predicted latency" }),
};

/** Outcome of the predictions of one placement at one confidence. */
const CalibratedPrediction = z
  .object({
    model: z.string(),
    placementId: idSchema("placement"),
    variant: z.string(),
    backend: Backend,
    confidence: z.number(),
    ...counts,
    steps: z.array(z.object({ at: Instant, ...counts })).meta({ description: "Oldest first" }),
  })
  .meta({ id: "CalibratedPrediction" });
export type CalibratedPrediction = z.infer<typeof CalibratedPrediction>;

export const PredictionCalibration = z
  .object({ items: z.array(CalibratedPrediction), truncated: z.boolean() })
  .meta({ id: "PredictionCalibration" });
export type PredictionCalibration = z.infer<typeof PredictionCalibration>;
