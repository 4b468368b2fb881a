import type { PlotLook } from "../../protocol/models/plot-endpoints.ts";
import { drawLegend } from "./draw-marks.ts";
import { drawPanel } from "./draw-panel.ts";
import { paint, type PlotSpec } from "./plot-spec.ts";
import { scaleOf } from "./plot-scale.ts";
import { shortenText, textWidth, tickText } from "./plot-text.ts";
import { svgDocument, textElement } from "./svg.ts";

const EDGE_PX = 12;
const TITLE_PX = 14;
const LINE_PX = 18;
/** Smallest distance between two ticks of the horizontal axis. */
const TICK_GAP_PX = 72;

/**
 * A plot as an SVG document of fixed width, without script or link, readable on its own. Its colours are attributes, so
 * that a page whose policy forbids inline style can embed it.
 */
export function drawPlot(spec: PlotSpec, { theme, width }: PlotLook): string {
  const legend = drawLegend(
    spec.panels.flatMap(({ layers }) => layers),
    { theme, left: EDGE_PX, right: width - EDGE_PX, top: EDGE_PX + TITLE_PX + 10 },
  );
  const yScales = spec.panels.map(({ layers }) => scaleOf(valuesOf(layers, "y"), { wanted: 5 }));
  const names = yScales.flatMap(({ ticks }) => ticks.map((tick) => textWidth(tickText(tick))));
  const left = EDGE_PX + Math.max(...names) + 8;
  const right = width - EDGE_PX - 8;
  const xValues = spec.panels.flatMap(({ layers }) => valuesOf(layers, "x"));
  const xScale = scaleOf(xValues, { wanted: Math.max(2, (right - left) / TICK_GAP_PX), ticks: spec.xTicks });
  const panelPx = Math.round(Math.min(320, Math.max(190, width * 0.42)) / Math.sqrt(spec.panels.length));
  let top = legend.bottom + 6;
  const panels = spec.panels.map((panel, index) => {
    const frame = { left, right, top: top + LINE_PX, bottom: top + LINE_PX + panelPx };
    top = frame.bottom + LINE_PX / 2;
    const yScale = yScales[index] ?? scaleOf([], { wanted: 5 });
    return drawPanel(panel, { theme, frame, xScale, yScale, isLast: index === spec.panels.length - 1 });
  });
  const height = top + 2 * LINE_PX + EDGE_PX / 2;
  const caption = textElement(
    "text",
    { x: (left + right) / 2, y: top + 1.6 * LINE_PX, "text-anchor": "middle", ...paint(theme, { fill: "muted" }) },
    spec.xLabel,
  );
  return svgDocument(
    { title: spec.title, description: spec.description, theme, width, height },
    drawTitle(spec.title, theme, width),
    legend.markup,
    ...panels,
    caption,
  );
}

/** Values that an axis must cover, including those of rules. */
function valuesOf(layers: PlotSpec["panels"][number]["layers"], axis: "x" | "y"): number[] {
  return layers.flatMap((layer) => {
    if (layer.kind === "rule") return layer.axis === axis ? [layer.at] : [];
    if (layer.kind === "line") return layer.points.map(([x, y]) => (axis === "x" ? x : y));
    return layer.marks.map((mark) => mark[axis]);
  });
}

/** The title on one line; a long one ends with an ellipsis and is complete in the `title` element. */
function drawTitle(title: string, theme: PlotLook["theme"], width: number): string {
  const shown = shortenText(title, width - 2 * EDGE_PX, TITLE_PX);
  const place = { x: EDGE_PX, y: EDGE_PX + TITLE_PX - 2, "font-size": TITLE_PX, "font-weight": 600 };
  return textElement("text", { ...place, ...paint(theme, { fill: "text" }) }, shown);
}
