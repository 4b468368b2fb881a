import type {
  EvaluatedEntrant,
  EvaluationResult,
  RolloutThroughput,
} from "../../../protocol/jobs/evaluation/evaluation.ts";
import type { TrainingResult } from "../../../protocol/jobs/training.ts";
import type { Estimate } from "../../../protocol/wire/distribution.ts";
import { formatValue } from "../../render/format-values.ts";
import { renderFacts, renderTable } from "../../render/render-table.ts";
import { sparkline, thinOut } from "../../render/sparkline.ts";
import type { Canvas } from "./render-result.ts";

const PROFILE_COLUMNS = 16;

/** An evaluation: each entrant's returns with their intervals, and the share of episodes above each score. */
export function renderEvaluation(result: EvaluationResult, canvas: Canvas): string {
  const { task, episodes, seed, entrants, proof, throughput } = result;
  const heads = ["policy", "mean return", "interquartile mean", "length", "ended", "share above 0 … 1"];
  const table = renderTable([heads, ...entrants.map(cellsOf)], canvas.columns);
  const failures = entrants.flatMap(({ name, failed, failedMembers }): [string, string][] =>
    failedMembers === 0 ? [] : [["failed", `${failedMembers} of ${name}: ${failed[0]?.reason ?? "no reason"}`]],
  );
  return `${table}${renderFacts([
    ["environment", `${task.name}, ${formatValue(episodes)} episodes each, seed ${seed}`],
    ...failures,
    ...(proof === null
      ? []
      : [["proof", `${proof.agreeing} of ${proof.steps} steps agree with the reference`] as const]),
    ...(throughput === null ? [] : [["speed", describeThroughput(throughput)] as const]),
  ])}`;
}

function cellsOf({ name, scores, meanLength, causes }: EvaluatedEntrant): string[] {
  const ended = `${causes.terminated} terminated, ${causes.truncated} truncated`;
  if (scores === null) return [name, "–", "–", "–", ended, ""];
  const profile = sparkline(
    thinOut(
      scores.profile.map(({ value }) => value),
      PROFILE_COLUMNS,
    ),
  );
  return [
    name,
    describeEstimate(scores.mean),
    describeEstimate(scores.iqm),
    formatValue(meanLength ?? 0),
    ended,
    profile,
  ];
}

/** `472 (465 to 480)`: a value with its interval. */
function describeEstimate({ value, low, high }: Estimate): string {
  return `${formatValue(value)} (${formatValue(low)} to ${formatValue(high)})`;
}

/** `1,200,000 steps/s by cpu-simd`. */
function describeThroughput({ stepsPerSecond, backend }: RolloutThroughput): string {
  return `${formatValue(stepsPerSecond)} steps/s by ${backend}, inference included`;
}

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
