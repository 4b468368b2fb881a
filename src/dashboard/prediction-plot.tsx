import { useCallback, useMemo } from "preact/hooks";
import type uPlot from "uplot";
import type { CalibratedPrediction } from "../protocol/prediction-calibration.ts";
import { formatShare } from "./format.ts";
import { timeAxis, timeScale } from "./plot-options.ts";
import { readPlotTheme } from "./plot-theme.ts";
import { usePlot } from "./use-plot.ts";

interface PredictionPlotProps {
  readonly item: CalibratedPrediction;
  readonly label: string;
  readonly onHover: (index: number | null) => void;
}

/** Shares of requests over time, with the confidence that was asked for as a line across. */
export function PredictionPlot({ item, label, onHover }: PredictionPlotProps) {
  const data = useMemo(() => toColumns(item), [item]);
  const createOptions = useCallback((element: HTMLElement) => predictionOptions(element, onHover), [onHover]);
  const frame = usePlot(createOptions, data);
  return <div ref={frame} class="plot-frame" role="img" aria-label={label} />;
}

function toColumns({ steps, confidence }: CalibratedPrediction): uPlot.AlignedData {
  return [
    steps.map(({ at }) => Date.parse(at) / 1_000),
    steps.map(({ inTime, requests }) => inTime / requests),
    steps.map(({ asPredicted, requests }) => asPredicted / requests),
    steps.map(() => confidence),
  ];
}

/** From the worst share, but from 97 % at least, so that noise in good ones stays small. */
function predictionOptions(element: HTMLElement, onHover: (index: number | null) => void): uPlot.Options {
  const { colour, axis, namedAxis, frame } = readPlotTheme(element);
  const line = (name: string, dash: number[], size: number): uPlot.Series => {
    const stroke = colour(name);
    return { stroke, width: 1.75, dash, points: { show: size > 0, size, stroke, fill: stroke } };
  };
  return {
    ...frame,
    scales: { x: timeScale, y: { range: (_, min) => [Math.min(min ?? 1, 0.98) - 0.01, 1.005] } },
    axes: [
      { ...axis, ...timeAxis },
      {
        ...namedAxis("share of requests", 56),
        values: (_, splits) => splits.map((split) => (split > 1 ? "" : formatShare(split))),
      },
    ],
    series: [{}, line("p50", [], 5), line("p95", [6, 3], 5), line("p99", [2, 3], 0)],
    hooks: { setCursor: [(self) => onHover(self.cursor.idx ?? null)] },
  };
}
