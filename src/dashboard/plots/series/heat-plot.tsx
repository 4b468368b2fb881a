import { useCallback, useMemo, useRef } from "preact/hooks";
import type uPlot from "uplot";
import type { Heatmap } from "../../../protocol/history/history-query.ts";
import { formatNumber } from "../../../words/numbers.ts";
import { densestRow, type HeatPlace, movePlace, shadeOf, tallyHeat } from "../map-cells.ts";
import { timeAxis } from "../plot-options.ts";
import { readPlotTheme } from "../plot-theme.ts";
import { usePlot } from "../use-plot.ts";

const STEP_S = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const KEYS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"]);

interface HeatPlotProps {
  readonly heat: Heatmap;
  readonly unit: string;
  readonly label: string;
  readonly onPlace: (place: HeatPlace | null) => void;
}

/** The cells of a heat map, by pointer and by arrow keys; rows grow by a factor, so the axis is logarithmic. */
export function HeatPlot({ heat, unit, label, onPlace }: HeatPlotProps) {
  const plot = useRef<uPlot | null>(null);
  const place = useRef<HeatPlace | null>(null);
  const data = useMemo((): uPlot.AlignedData => [startsOf(heat), heat.times.map(() => null)], [heat]);
  const createOptions = useCallback(
    (element: HTMLElement) =>
      heatOptions(
        element,
        { heat, unit },
        (next) => {
          place.current = next;
          onPlace(next);
        },
        (ready) => (plot.current = ready),
      ),
    [heat, unit, onPlace],
  );
  const frame = usePlot(createOptions, data);
  const move = (event: KeyboardEvent) => {
    const drawn = plot.current;
    if (drawn === null || !KEYS.has(event.key)) return;
    event.preventDefault();
    const last = heat.times.length - 1;
    const next =
      place.current === null
        ? { column: last, row: densestRow(heat.counts[last] ?? []) }
        : movePlace(place.current, event.key, heat);
    drawn.setCursor({
      left: drawn.valToPos((startsOf(heat)[next.column] ?? 0) + stepOf(heat) / 2, "x"),
      top: drawn.valToPos(next.row + 0.5, "y"),
    });
  };
  return (
    <div
      ref={frame}
      class="plot-frame"
      role="application"
      aria-roledescription="heat map"
      aria-label={label}
      tabIndex={0}
      onKeyDown={move}
    />
  );
}

function heatOptions(
  element: HTMLElement,
  { heat, unit }: Pick<HeatPlotProps, "heat" | "unit">,
  onPlace: HeatPlotProps["onPlace"],
  onReady: (plot: uPlot) => void,
): uPlot.Options {
  const { font, axis, frame } = readPlotTheme(element);
  const stepS = stepOf(heat);
  const starts = startsOf(heat);
  const rows = heat.edges.length - 1;
  return {
    ...frame,
    cursor: { drag: { setScale: false, x: false, y: false } },
    scales: {
      x: { time: true, range: () => [starts[0] ?? 0, (starts.at(-1) ?? 0) + stepS] },
      y: { range: () => [0, rows] },
    },
    axes: [
      { ...axis, ...timeAxis, grid: { show: false } },
      {
        ...axis,
        grid: { show: false },
        label: unit,
        labelFont: font,
        labelSize: 18,
        size: 52,
        values: (_, splits) => splits.map((row) => nameEdge(heat.edges, row)),
      },
    ],
    series: [{}, { show: false }],
    hooks: {
      ready: [onReady],
      drawClear: [(self) => drawCells(self, heat)],
      setCursor: [(self) => onPlace(placeOf(self, heat))],
    },
  };
}

function drawCells(plot: uPlot, heat: Heatmap): void {
  const { ctx } = plot;
  const { most } = tallyHeat(heat);
  const starts = startsOf(heat);
  ctx.save();
  ctx.fillStyle = readPlotTheme(plot.root).colour("p50");
  for (const [column, start] of starts.entries()) {
    const left = plot.valToPos(start, "x", true);
    const width = Math.max(1, plot.valToPos(start + stepOf(heat), "x", true) - left - 1);
    for (const [row, count] of (heat.counts[column] ?? []).entries()) {
      if (count === 0) continue;
      const top = plot.valToPos(row + 1, "y", true);
      ctx.globalAlpha = shadeOf(count, most);
      ctx.fillRect(left, top, width, plot.valToPos(row, "y", true) - top);
    }
  }
  ctx.restore();
}

/** The cell beneath the cursor; null where the cursor is elsewhere, or nothing was measured in its step. */
function placeOf(plot: uPlot, heat: Heatmap): HeatPlace | null {
  const { left = -1, top = -1 } = plot.cursor;
  if (left < 0 || top < 0) return null;
  const atS = plot.posToVal(left, "x");
  const column = startsOf(heat).findLastIndex((start) => start <= atS);
  const start = startsOf(heat)[column];
  if (start === undefined || atS >= start + stepOf(heat)) return null;
  const row = Math.max(0, Math.min(heat.edges.length - 2, Math.floor(plot.posToVal(top, "y"))));
  return { column, row };
}

function startsOf({ times }: Heatmap): number[] {
  return times.map((at) => Date.parse(at) / 1_000);
}

function stepOf({ step }: Heatmap): number {
  return Number.parseInt(step, 10) * STEP_S[step.at(-1) as keyof typeof STEP_S];
}

function nameEdge(edges: readonly number[], row: number): string {
  const edge = edges[row];
  return edge === undefined ? "" : formatNumber(edge);
}
