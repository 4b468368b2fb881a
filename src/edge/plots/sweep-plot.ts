import type { PlacementSweep } from "../../protocol/sweep.ts";
import type { PlotLayer, PlotMark, PlotPanel, PlotSpec } from "./plot-spec.ts";
import { valueText } from "./plot-text.ts";

/** Throughput and latency by batch size, with the knee, the largest safe batch and the bound of the latency. */
export function sweepPlot(sweep: PlacementSweep, latencyMs: number | undefined): PlotSpec {
  const { steps, knee, recommended } = sweep;
  const throughput = steps.map(({ rows, rowsPerS }) => ({
    x: rows,
    y: rowsPerS,
    title: `batches of ${rows}: ${valueText(rowsPerS)} rows/s`,
  }));
  const latency = (of: "p50Ms" | "p99Ms", name: string): PlotMark[] =>
    steps.map((step) => ({
      x: step.rows,
      y: step[of],
      title: `batches of ${step.rows}: ${name} ${valueText(step[of])} ms`,
    }));
  const bound: PlotLayer[] =
    latencyMs === undefined
      ? []
      : [{ kind: "rule", axis: "y", at: latencyMs, colour: "bad", text: `bound ${valueText(latencyMs)} ms` }];
  const panels: PlotPanel[] = [
    {
      label: "throughput, rows/s",
      layers: [...rulesOf(sweep), ...curveOf("rows/s", "good", "dot", throughput)],
    },
    {
      label: "service of one batch, ms",
      layers: [
        ...bound,
        ...curveOf("p50", "first", "dot", latency("p50Ms", "p50")),
        ...curveOf("p99", "third", "ring", latency("p99Ms", "p99")),
      ],
    },
  ];
  const kneeText = knee === null ? "The curve has no knee." : `The knee is at ${knee} rows.`;
  return {
    title: `${sweep.model}@${sweep.version} ${sweep.variant} on ${sweep.deviceKey} by ${sweep.backend}`,
    description: `${kneeText} ${tellSafe(sweep)} Recommended: ${recommended.rows ?? "none"}. ${recommended.detail}`,
    xLabel: "rows of a batch",
    xTicks: steps.map(({ rows }) => rows),
    panels,
  };
}

function curveOf(name: string, colour: "good" | "first" | "third", shape: "dot" | "ring", marks: readonly PlotMark[]) {
  const line: PlotLayer = { kind: "line", colour, points: marks.map(({ x, y }) => [x, y] as const) };
  const points: PlotLayer = { kind: "marks", name, colour, shape, marks };
  return [line, points];
}

/** What lies beyond the batches that were measured is told in words alone. */
function rulesOf({ steps, knee, safe }: PlacementSweep): PlotLayer[] {
  const largest = steps.at(-1)?.rows ?? 0;
  const rules: PlotLayer[] = [];
  if (knee !== null) rules.push({ kind: "rule", axis: "x", at: knee, colour: "second", text: `knee ${knee}` });
  if (safe !== null && safe.rows >= 1 && safe.rows <= largest)
    rules.push({ kind: "rule", axis: "x", at: safe.rows, colour: "bad", text: `largest safe ${safe.rows}` });
  return rules;
}

function tellSafe({ safe }: PlacementSweep): string {
  if (safe === null) return "How much memory it takes is not known.";
  return safe.rows === 0
    ? "Not even one row stays within the memory."
    : `Up to ${safe.rows} rows stay within the memory.`;
}
