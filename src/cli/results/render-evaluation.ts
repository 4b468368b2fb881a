import type { EvaluatedEntrant, EvaluationResult } from "../../protocol/evaluation.ts";
import type { RolloutThroughput } from "../../protocol/rollout-throughput.ts";
import type { Estimate } from "../../protocol/score.ts";
import { formatValue } from "../render/format-values.ts";
import { renderFacts } from "../render/render-facts.ts";
import { renderTable } from "../render/render-table.ts";
import { sparkline, thinOut } from "../render/sparkline.ts";
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
export function describeEstimate({ value, low, high }: Estimate): string {
  return `${formatValue(value)} (${formatValue(low)} to ${formatValue(high)})`;
}

/** `1,200,000 steps/s by cpu-simd`. */
export function describeThroughput({ stepsPerSecond, backend }: RolloutThroughput): string {
  return `${formatValue(stepsPerSecond)} steps/s by ${backend}, inference included`;
}
