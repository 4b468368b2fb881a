import type { Candidate, OptimisationResult, OptimisationTrial } from "../../../protocol/jobs/optimisation.ts";
import { paretoFront } from "../../../stats/compare/trade-offs.ts";
import type { ColourName, MarkShape, PlotLayer, PlotSpec } from "../../plots/plot-spec.ts";
import { percentileText, valueText } from "../../plots/plot-text.ts";

/** A trial with both coordinates. */
interface MeasuredTrial {
  readonly index: number;
  readonly x: number;
  readonly y: number;
  readonly title: string;
}

/**
 * Every trial of an optimisation by throughput and latency. The line is the front in these two alone; a trial marked as
 * Pareto may owe it to memory or fidelity. Null if no trial was measured.
 */
export function frontPlot(subject: string, result: OptimisationResult): PlotSpec | null {
  const { trials, targets, best, pareto, infeasible } = result;
  const percentile = percentileText(targets.percentile);
  const measured = trials.flatMap((trial, index) => toMeasured(trial, index, percentile));
  if (measured.length === 0) return null;
  const own = result.default;
  const nearest = infeasible?.nearest ?? null;
  const named = new Set([best, own, nearest]);
  const among = (wanted: (index: number) => boolean) => measured.filter(({ index }) => wanted(index));
  const marks = (name: string, colour: ColourName, shape: MarkShape, wanted: (index: number) => boolean): PlotLayer => {
    return { kind: "marks", name, colour, shape, marks: among(wanted) };
  };
  const layers: PlotLayer[] = [
    ...rule("y", targets.latencyMs, `${percentile} ≤ ${valueText(targets.latencyMs ?? 0)} ms`),
    ...rule("x", targets.throughputPerS, `≥ ${valueText(targets.throughputPerS ?? 0)}/s`),
    { kind: "line", name: "front", colour: "first", points: frontOf(measured) },
    marks("tried", "muted", "ring", (index) => !pareto.includes(index) && !named.has(index)),
    marks("Pareto", "first", "dot", (index) => pareto.includes(index) && !named.has(index)),
    marks("default", "second", "square", (index) => index === own),
    marks("nearest miss", "bad", "cross", (index) => index === nearest),
    marks("best", "good", "diamond", (index) => index === best),
  ];
  return {
    title: `${subject}: ${measured.length} configurations`,
    description: describe(result, measured.length),
    xLabel: "throughput, 1/s",
    panels: [{ label: `${percentile} latency, ms`, layers }],
  };
}

function toMeasured(trial: OptimisationTrial, index: number, percentile: string): MeasuredTrial[] {
  const { throughputPerS, latencyMs, candidate } = trial;
  if (trial.outcome !== "measured" || throughputPerS === null || latencyMs === null) return [];
  const figures = `${valueText(throughputPerS)}/s, ${percentile} ${valueText(latencyMs)} ms`;
  return [{ index, x: throughputPerS, y: latencyMs, title: `${nameCandidate(candidate)}: ${figures}` }];
}

function nameCandidate({ deviceKey, backend, variant, threads, maxRows, concurrency }: Candidate): string {
  return `${variant} on ${deviceKey} by ${backend}, threads ${threads}, rows ${maxRows}, concurrency ${concurrency}`;
}

/** The front in throughput and latency, in order of throughput. */
function frontOf(measured: readonly MeasuredTrial[]): [number, number][] {
  return paretoFront(measured, ["higher", "lower"], ({ x, y }) => [x, y])
    .map(({ x, y }): [number, number] => [x, y])
    .toSorted(([a], [b]) => a - b);
}

function rule(axis: "x" | "y", at: number | undefined, text: string): PlotLayer[] {
  return at === undefined ? [] : [{ kind: "rule", axis, at, colour: "third", text }];
}

function describe({ trials, best, infeasible, gain }: OptimisationResult, measured: number): string {
  const tried = `${measured} of ${trials.length} trials were measured.`;
  if (best === null) return `${tried} None reaches every target. ${infeasible?.detail ?? ""}`.trim();
  const faster = gain?.throughput == null ? "" : `, ${valueText(gain.throughput)} times the default's throughput`;
  const found = trials[best];
  return `${tried} The best is ${found === undefined ? "not told" : nameCandidate(found.candidate)}${faster}.`;
}
