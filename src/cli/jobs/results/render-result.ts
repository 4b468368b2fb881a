import type { Environment } from "../../../protocol/jobs/job-fields.ts";
import type { Job, JobResult } from "../../../protocol/jobs/job.ts";
import { formatSpan, formatValue } from "../../render/format-values.ts";
import { renderFacts } from "../../render/render-table.ts";
import type { Shell } from "../../shell/shell.ts";
import { renderBenchmark, renderTuning } from "./render-benchmark.ts";
import { renderEvaluation, renderTraining } from "./render-evaluation.ts";
import { renderOptimisation, renderValidation } from "./render-validation.ts";

/** A result that has no picture of its own: its kind and what of it is a number or a word; --json has the rest. */
function renderPlainResult({ kind, ...result }: JobResult): string {
  const facts = Object.entries(result).flatMap(([name, value]: [string, unknown]): [string, string][] => {
    if (typeof value === "number") return [[name, formatValue(value)]];
    return typeof value === "string" || typeof value === "boolean" ? [[name, String(value)]] : [];
  });
  return renderFacts([["job", `${kind}; --json prints all of it`], ...facts]);
}

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
