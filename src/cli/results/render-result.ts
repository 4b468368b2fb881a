import type { Environment } from "../../protocol/environment.ts";
import type { Job, JobResult } from "../../protocol/job.ts";
import { formatSpan } from "../render/format-values.ts";
import { renderFacts } from "../render/render-facts.ts";
import type { Shell } from "../shell.ts";
import { renderBenchmark } from "./render-benchmark.ts";
import { renderEvaluation } from "./render-evaluation.ts";
import { renderOptimisation } from "./render-optimisation.ts";
import { renderPlainResult } from "./render-plain-result.ts";
import { renderTraining } from "./render-training.ts";
import { renderTuning } from "./render-tuning.ts";
import { renderValidation } from "./render-validation.ts";

/** How results are shown: in colours or not, as wide as the terminal. */
export type Canvas = Pick<Shell, "colour" | "columns">;

/** A job that ended well, for people: its result, where it ran, and where it stays. */
export function renderResult({ id, runId, result, startedAt, endedAt }: Job, canvas: Canvas): string {
  if (result === null) return `${id} left no result.\n`;
  const took = startedAt === null || endedAt === null ? [] : [Date.parse(endedAt) - Date.parse(startedAt)];
  const facts = renderFacts([
    ...("environment" in result ? [["ran on", describePlace(result.environment)] as const] : []),
    ["run", [runId ?? "none", id, ...took.map(formatSpan)].join(" · ")],
  ]);
  return `${renderKind(result, canvas)}${facts}`;
}

function describePlace({ deviceKey, deviceName, software, loadAverage }: Environment): string {
  const emulated = software ? " (software: an emulation, not a GPU)" : "";
  return `${deviceKey} ${deviceName}${emulated}, load average ${loadAverage.toFixed(1)}`;
}

function renderKind(result: JobResult, canvas: Canvas): string {
  switch (result.kind) {
    case "benchmark":
      return renderBenchmark(result);
    case "validation":
      return renderValidation(result, canvas);
    case "optimisation":
      return renderOptimisation(result, canvas);
    case "tuning":
      return renderTuning(result);
    case "evaluation":
      return renderEvaluation(result, canvas);
    case "training":
      return renderTraining(result);
    case "throughput":
    case "calibration":
    case "probe":
    case "evolution":
    case "consensus":
    case "compression":
      return renderPlainResult(result);
  }
}
