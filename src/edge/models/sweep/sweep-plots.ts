import type { PlacementSweep, Trade, TradedPlacement } from "../../../protocol/models/trade-offs.ts";
import { paretoFront } from "../../../stats/compare/trade-offs.ts";
import type { ColourName, MarkShape, PlotLayer, PlotMark, PlotPanel, PlotSpec } from "../../plots/plot-spec.ts";
import { valueText } from "../../plots/plot-text.ts";

/** Throughput and latency by batch size, with the knee, the largest safe batch and the latency bound. */
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

/** Batches beyond the measured ones are described in words only. */
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

interface PlacedMark extends PlotMark {
  readonly software: boolean;
}

/**
 * Placements of a version by the latency of one row and the lost fidelity, since most lose little. The line is the
 * front in these two alone, of real hardware, else of software devices, which are never compared with it. Null if none
 * was measured.
 */
export function tradePlot({ model, version, items }: Trade): PlotSpec | null {
  const marks = items.flatMap(toMark);
  if (marks.length === 0) return null;
  const [real, emulated] = [false, true].map((software) => marks.filter((mark) => mark.software === software));
  const compared = real!.length > 0 ? real! : emulated!;
  const front = frontOf(compared);
  const isOn = new Set(front);
  const others = compared.filter((mark) => !isOn.has(mark));
  const layers: PlotLayer[] = [
    { kind: "line", name: "front", colour: "first", points: front.map(({ x, y }) => [x, y] as const) },
    ...layerOf("beaten", "muted", "ring", others),
    ...layerOf("on the front", "first", "dot", front),
    ...(compared === emulated ? [] : layerOf("software device", "third", "square", emulated!)),
  ];
  return {
    title: `${model}@${version}: latency against fidelity`,
    description: `${marks.length} placements. On the front: ${front.map(({ title }) => title).join("; ")}.`,
    xLabel: "p50 of one row, ms",
    panels: [{ label: "fidelity lost, %", layers }],
  };
}

function toMark({ variant, deviceKey, backend, software, state, fidelity, p50Ms }: TradedPlacement): PlacedMark[] {
  if (state !== "eligible" || fidelity === null) return [];
  const title = `${variant} on ${deviceKey} by ${backend}: ${valueText(p50Ms)} ms, fidelity ${valueText(fidelity)}`;
  // Rounded to remove the digits that the subtraction adds.
  return [{ x: p50Ms, y: Number((100 * (1 - fidelity)).toFixed(9)), title, software }];
}

/** Pareto front by rising latency. */
function frontOf(marks: readonly PlacedMark[]): PlacedMark[] {
  return paretoFront(marks, ["lower", "lower"], ({ x, y }) => [x, y]).toSorted((a, b) => a.x - b.x);
}

function layerOf(name: string, colour: ColourName, shape: MarkShape, marks: readonly PlotMark[]): PlotLayer[] {
  return marks.length === 0 ? [] : [{ kind: "marks", name, colour, shape, marks }];
}
