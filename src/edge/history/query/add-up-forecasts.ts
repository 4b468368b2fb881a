import type { CalibratedPrediction } from "../../../protocol/history/prediction-calibration.ts";
import { Backend } from "../../../protocol/fleet/hardware.ts";
import { toInstant } from "../../clock.ts";
import type { ForecastSum } from "../../store/history/total-store.ts";

type Step = {
  -readonly [Field in keyof CalibratedPrediction["steps"][number]]: CalibratedPrediction["steps"][number][Field];
};

/** Combines the sums of `inTime` and `asPredicted`, by placement and confidence and then by step. */
export function addUpForecasts(sums: readonly ForecastSum[]): CalibratedPrediction[] {
  const groups = Map.groupBy(sums, ({ key: { subject, configuration } }) => JSON.stringify([subject, configuration]));
  const predictions = [...groups.values()].map((members): CalibratedPrediction => {
    const { subject, configuration } = members[0]!.key;
    const steps = new Map<number, Step>();
    for (const { key, stepAtMs, count, sum } of members) {
      const step = steps.get(stepAtMs) ?? { at: toInstant(stepAtMs), requests: 0, inTime: 0, asPredicted: 0 };
      steps.set(stepAtMs, step);
      if (key.metric === "asPredicted") step.asPredicted += sum;
      else {
        step.requests += count;
        step.inTime += sum;
      }
    }
    // In the step that begins now, one metric may arrive before the other.
    const whole = [...steps].filter(([, { requests }]) => requests > 0);
    const ordered = whole.toSorted(([a], [b]) => a - b).map(([, step]) => step);
    const total = (count: "requests" | "inTime" | "asPredicted") => ordered.reduce((sum, step) => sum + step[count], 0);
    return {
      model: subject,
      placementId: String(configuration["placement"]),
      variant: String(configuration["variant"]),
      backend: Backend.parse(configuration["backend"]),
      confidence: Number(configuration["confidence"]),
      requests: total("requests"),
      inTime: total("inTime"),
      asPredicted: total("asPredicted"),
      steps: ordered,
    };
  });
  return predictions.filter(({ requests }) => requests > 0);
}
