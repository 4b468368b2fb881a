import type { OptimisationResult, OptimisationTrial } from "../../protocol/optimisation.ts";
import { formatSize, formatValue, formatWith } from "../render/format-values.ts";
import { paint } from "../render/paint.ts";
import { renderFacts } from "../render/render-facts.ts";
import { renderTable } from "../render/render-table.ts";
import { nameSubject } from "./name-subject.ts";
import type { Canvas } from "./render-result.ts";

/** An optimisation: what cannot be beaten, which of it is best, and what came of it; or what came nearest. */
export function renderOptimisation(result: OptimisationResult, canvas: Canvas): string {
  const { subject, trials, pareto, best, infeasible, gain, applied, candidates, complete, targets } = result;
  const shown = [...new Set([result.default, ...pareto, best, infeasible?.nearest ?? null])].filter(
    (each) => each !== null,
  );
  const rows = shown.flatMap((index) => {
    const trial = trials[index];
    return trial === undefined ? [] : [[markOf(index, result), ...cellsOf(trial)]];
  });
  const latency = `p${formatValue(100 * targets.percentile)} ms`;
  const table = renderTable([["", "candidate", "rows/s", latency, "memory", "fidelity"], ...rows], canvas.columns);
  const verdict =
    infeasible === null
      ? paint(canvas, "good", "FOUND")
      : `${paint(canvas, "bad", "INFEASIBLE")}: ${infeasible.detail}`;
  return `${table}${renderFacts([
    ["subject", nameSubject(subject)],
    ["searched", `${trials.length} of ${candidates} candidates${complete ? "" : ", until the time was up"}`],
    ...(gain === null
      ? []
      : [["gain", `${timesOf(gain.throughput)} the throughput, ${timesOf(gain.latency)} as quick`] as const]),
    ...(applied === null ? [] : [[applied.applied ? "applied" : "not applied", applied.detail] as const]),
    ["verdict", verdict],
  ])}`;
}

function markOf(index: number, { best, infeasible, default: standing }: OptimisationResult): string {
  const marks = [index === standing && "now", index === best && "best", index === infeasible?.nearest && "nearest"];
  return marks.filter((mark) => mark !== false).join(", ");
}

function cellsOf({ candidate, throughputPerS, latencyMs, memoryBytes, fidelity }: OptimisationTrial): string[] {
  const { variant, deviceKey, backend, threads, maxRows, concurrency } = candidate;
  return [
    `${variant} ${deviceKey} ${backend} threads=${threads} rows=${maxRows} inFlight=${concurrency}`,
    formatWith(throughputPerS, "").trim(),
    formatWith(latencyMs, "").trim(),
    formatSize(memoryBytes),
    formatWith(fidelity, "").trim(),
  ];
}

function timesOf(factor: number | null): string {
  return factor === null ? "?" : `${formatValue(factor)}×`;
}
