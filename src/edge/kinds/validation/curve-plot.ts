import type { RateTrial, ScenarioResult } from "../../../protocol/models/scenario.ts";
import type { PlotLayer, PlotMark, PlotSpec } from "../../plots/plot-spec.ts";
import { percentileText, valueText } from "../../plots/plot-text.ts";

type ServerResult = NonNullable<ScenarioResult["server"]>;

/** A rate at which requests were answered. */
interface AnsweredTrial extends RateTrial {
  readonly p50Ms: number;
  readonly percentileMs: number;
}

function isAnswered(trial: RateTrial): trial is AnsweredTrial {
  return trial.p50Ms !== null && trial.percentileMs !== null;
}

/** Latency by scheduled rate of a server scenario: every tried rate, the bound, and the front. */
export function curvePlot(
  subject: string,
  { scenario, path }: Pick<ScenarioResult, "scenario" | "path">,
  { curve, front, boundMs, highestRatePerS }: ServerResult,
): PlotSpec {
  const percentile = percentileText(scenario.kind === "server" ? scenario.percentile : 0.99);
  const marksOf = (trials: readonly AnsweredTrial[]): PlotMark[] =>
    trials.map((trial) => ({ x: trial.ratePerS, y: trial.percentileMs, title: tell(trial, percentile) }));
  const answered = curve.filter(isAnswered);
  const held = answered.filter(({ holds, confirms }) => holds && !confirms);
  const confirmed = answered.filter(({ holds, confirms }) => holds && confirms);
  const missed = answered.filter(({ holds }) => !holds);
  const layers: PlotLayer[] = [
    { kind: "rule", axis: "y", at: boundMs, colour: "bad", text: `bound ${valueText(boundMs)} ms` },
    ...(highestRatePerS === null ? [] : [highestRule(highestRatePerS)]),
    { kind: "line", name: "p50", colour: "first", dashed: true, points: byRate(answered, ({ p50Ms }) => p50Ms) },
    {
      kind: "line",
      name: `${percentile} on the Pareto front`,
      colour: "third",
      points: front.map(({ ratePerS, percentileMs }) => [ratePerS, percentileMs] as const),
    },
    { kind: "marks", name: `${percentile}, bound kept`, colour: "good", shape: "dot", marks: marksOf(held) },
    { kind: "marks", name: "confirmed again", colour: "good", shape: "ring", marks: marksOf(confirmed) },
    { kind: "marks", name: "bound missed", colour: "bad", shape: "cross", marks: marksOf(missed) },
  ];
  return {
    title: `${subject}: ${percentile} by rate, ${path === "edge" ? "through the edge" : "on the runner"}`,
    description: describe(curve.length, curve.length - answered.length, percentile, boundMs, highestRatePerS),
    xLabel: "scheduled queries a second",
    panels: [{ label: "latency from the scheduled arrival, ms", layers }],
  };
}

function highestRule(rate: number): PlotLayer {
  return { kind: "rule", axis: "x", at: rate, colour: "good", text: `highest ${valueText(rate)}/s` };
}

/** A rate that was tried repeatedly counts by its slowest run. */
function byRate(curve: readonly AnsweredTrial[], of: (trial: AnsweredTrial) => number): [number, number][] {
  const rates = Map.groupBy(curve, ({ ratePerS }) => ratePerS);
  return [...rates]
    .map(([rate, trials]): [number, number] => [rate, Math.max(...trials.map(of))])
    .toSorted(([a], [b]) => a - b);
}

function tell({ ratePerS, p50Ms, percentileMs, queries, errors }: AnsweredTrial, percentile: string): string {
  const failed = errors === 0 ? "" : `, ${errors} failed`;
  return `${valueText(ratePerS)}/s: ${percentile} ${valueText(percentileMs)} ms, p50 ${valueText(p50Ms)} ms, ${queries} queries${failed}`;
}

function describe(rates: number, failed: number, percentile: string, boundMs: number, highest: number | null): string {
  const found =
    highest === null
      ? "no rate that was tried keeps it"
      : `the highest rate that keeps it is ${valueText(highest)} queries a second`;
  const lost = failed === 0 ? "" : ` In ${failed} of them too many queries failed for that percentile.`;
  return `${rates} runs at scheduled rates.${lost} The ${percentile} has to stay within ${valueText(boundMs)} ms: ${found}.`;
}
