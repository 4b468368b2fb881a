import type { EvaluatedEntrant, EvaluationResult } from "../../../protocol/jobs/evaluation/evaluation.ts";
import type { PlotLayer, PlotSpec } from "../../plots/plot-spec.ts";
import { valueText } from "../../plots/plot-text.ts";

const COLOURS = ["first", "second", "third"] as const;

type Scored = EvaluatedEntrant & { readonly scores: NonNullable<EvaluatedEntrant["scores"]> };

/** Entrants that a plot can distinguish; of more, those with the highest interquartile mean are shown. */
const SHOWN = COLOURS.length;

/**
 * Performance profiles: the share of episodes above each normalised return, with the bounds of its interval. Null if no
 * entrant has a score.
 * Source: Agarwal et al., NeurIPS 2021.
 */
export function profilePlot({ task, episodes, entrants }: EvaluationResult): PlotSpec | null {
  const scored = entrants.filter((entrant): entrant is Scored => entrant.scores !== null);
  if (scored.length === 0) return null;
  const shown = scored.toSorted((a, b) => b.scores.iqm.value - a.scores.iqm.value).slice(0, SHOWN);
  const left = scored.length - shown.length;
  const told = shown.map(({ name, scores: { mean, iqm } }) => {
    return `${name}: mean return ${valueText(mean.value)} (95 %: ${valueText(mean.low)} to ${valueText(mean.high)}), interquartile mean ${valueText(iqm.value)}.`;
  });
  return {
    title: `${task.name}: performance profile`,
    description: `${episodes} episodes of each member. ${told.join(" ")}${left === 0 ? "" : ` ${left} others are not shown.`}`,
    xLabel: "normalised return τ",
    panels: [{ label: "share of episodes above τ", layers: shown.flatMap(layersOf) }],
  };
}

function layersOf({ name, scores: { profile } }: Scored, index: number): PlotLayer[] {
  const colour = COLOURS[index]!;
  const line = (of: "value" | "low" | "high") => profile.map((point) => [point.tau, point[of]] as const);
  return [
    { kind: "line", colour, dashed: true, points: line("low") },
    { kind: "line", colour, dashed: true, points: line("high") },
    { kind: "line", name, colour, points: line("value") },
  ];
}
