import type { TrainingResult } from "../../protocol/training.ts";
import { formatValue } from "../render/format-values.ts";
import { renderFacts } from "../render/render-facts.ts";
import { sparkline, thinOut } from "../render/sparkline.ts";
import { describeEstimate, describeThroughput } from "./render-evaluation.ts";

const CURVE_COLUMNS = 40;

/** A training: its curve, how good the policy is on episodes that chose nothing, and where it is. */
export function renderTraining(result: TrainingResult): string {
  const { task, algorithm, generations, solvedAtGeneration, curve, best, published, throughput } = result;
  const values = curve.map(({ fresh, mean }) => fresh ?? mean);
  const solved = solvedAtGeneration === null ? "" : `, solved in generation ${solvedAtGeneration}`;
  const [first, last] = [values[0], values.at(-1)];
  return renderFacts([
    ["environment", `${task.name} by ${algorithm.name}, ${formatValue(generations)} generations${solved}`],
    ...(first === undefined || last === undefined
      ? []
      : [
          ["curve", `${formatValue(first)} ${sparkline(thinOut(values, CURVE_COLUMNS))} ${formatValue(last)}`] as const,
        ]),
    ["mean return", `${describeEstimate(best.mean)} over ${formatValue(best.episodes)} fresh episodes`],
    ["speed", describeThroughput(throughput)],
    ...(published === null
      ? []
      : [["published", `${published.model}: millrace act ${published.model} --observation -`] as const]),
  ]);
}
