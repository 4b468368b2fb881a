import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { formatNumber } from "../format.ts";
import { timeAxis, timeScale } from "../plot-options.ts";
import { readPlotTheme } from "../plot-theme.ts";
import { usePlot } from "../use-plot.ts";
import type { Goodput } from "./goodput.ts";

const SECONDS_PER_MINUTE = 60;

/** Answers a second over time. */
export function GoodputPlot({ goodput: { minutes }, label }: { goodput: Goodput; label: string }) {
  const data = useMemo((): uPlot.AlignedData => {
    // The minute that is under way would look like a drop.
    const whole = minutes.slice(0, -1);
    return [whole.map(({ atMs }) => atMs / 1_000), whole.map(({ answered }) => answered / SECONDS_PER_MINUTE)];
  }, [minutes]);
  const frame = usePlot(goodputOptions, data);
  return <div ref={frame} class="plot-frame" role="img" aria-label={label} />;
}

function goodputOptions(element: HTMLElement): uPlot.Options {
  const { colour, axis, frame } = readPlotTheme(element);
  return {
    ...frame,
    cursor: { show: false },
    scales: { x: timeScale, y: { range: (_, _min, max) => [0, (max ?? 0) > 0 ? (max ?? 0) * 1.15 : 1] } },
    axes: [
      { ...axis, ...timeAxis },
      {
        ...axis,
        size: 52,
        values: (_, splits) => splits.map(formatNumber),
      },
    ],
    series: [{}, { stroke: colour("p50"), width: 2, points: { show: false } }],
  };
}
