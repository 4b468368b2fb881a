import type { PlotLook } from "../../protocol/models/plot-endpoints.ts";
import type { HeatAxis, HeatSpec } from "./heat-plot.ts";
import { paint } from "./plot-spec.ts";
import { shortenText, textWidth, valueText } from "./plot-text.ts";
import { element, svgDocument, textElement } from "./svg.ts";

const EDGE_PX = 12;
const TITLE_PX = 14;
const LINE_PX = 18;
const LEFT_PX = 52;
const LEGEND_PX = 120;
const MOST_PX = 560;
/** Shades between the worst and the best: as many as an eye distinguishes; each is one path. */
const SHADES = 12;

/** A heat map as an SVG document, in the manner of `drawPlot`: the better a cell, the fuller its colour. */
export function drawHeat(spec: HeatSpec, { theme, width }: PlotLook): string {
  const side = Math.min(MOST_PX, width - LEFT_PX - EDGE_PX);
  const top = EDGE_PX + 3 * LINE_PX;
  const frame = { left: LEFT_PX, top, side, height: spec.y.cells === 1 ? side / 8 : side };
  const height = top + frame.height + 2.6 * LINE_PX;
  const muted = paint(theme, { fill: "muted" });
  const border = { x: frame.left, y: top, width: side, height: frame.height, ...paint(theme, { stroke: "grid" }) };
  return svgDocument(
    { title: spec.title, description: spec.description, theme, width, height },
    textElement(
      "text",
      { x: EDGE_PX, y: EDGE_PX + 12, "font-size": TITLE_PX, "font-weight": 600, ...paint(theme, { fill: "text" }) },
      shortenText(spec.title, width - 2 * EDGE_PX, TITLE_PX),
    ),
    textElement(
      "text",
      { x: EDGE_PX, y: EDGE_PX + 12 + LINE_PX, ...muted },
      shortenText(spec.description, width - 2 * EDGE_PX),
    ),
    drawCells(spec, frame, theme),
    element("rect", border),
    drawXTicks(spec.x, frame, theme),
    spec.y.cells === 1 ? "" : drawYTicks(spec.y, frame, theme),
    drawLegend(spec, { right: frame.left + side, y: top - 10 }, theme),
  );
}

interface Frame {
  readonly left: number;
  readonly top: number;
  readonly side: number;
  readonly height: number;
}

/** One path for each shade, of a strip for each run of equal cells. */
function drawCells({ x, y, values }: HeatSpec, { left, top, side, height }: Frame, theme: PlotLook["theme"]): string {
  const [low, high] = rangeOf(values);
  const [cellWidth, cellHeight] = [side / x.cells, height / y.cells];
  const paths: string[] = Array.from({ length: SHADES }, () => "");
  for (let row = 0; row < y.cells; row++) {
    for (let column = 0; column < x.cells;) {
      const shade = shadeOf(values[row * x.cells + column]!, low, high);
      let end = column + 1;
      while (end < x.cells && shadeOf(values[row * x.cells + end]!, low, high) === shade) end++;
      if (shade !== null) {
        const corner = `${round(left + column * cellWidth)} ${round(top + height - (row + 1) * cellHeight)}`;
        const wide = round((end - column) * cellWidth);
        paths[shade] += `M${corner}h${wide}v${round(cellHeight)}h${-wide}z`;
      }
      column = end;
    }
  }
  const drawn = paths.map((d, shade) => (d === "" ? "" : element("path", { d, ...shadePaint(shade, theme) })));
  return drawn.join("");
}

function drawXTicks(axis: HeatAxis, { left, top, side, height }: Frame, theme: PlotLook["theme"]): string {
  const y = top + height + 15;
  const text = paint(theme, { fill: "muted" });
  return [
    textElement("text", { x: left, y, "text-anchor": "start", ...text }, valueText(axis.low)),
    textElement("text", { x: left + side / 2, y, "text-anchor": "middle", ...text }, axis.label),
    textElement("text", { x: left + side, y, "text-anchor": "end", ...text }, valueText(axis.high)),
  ].join("");
}

function drawYTicks(axis: HeatAxis, { left, top, height }: Frame, theme: PlotLook["theme"]): string {
  const text = paint(theme, { fill: "muted" });
  const x = left - 7;
  const turned = { transform: `rotate(-90 ${left - 26} ${top + height / 2})`, x: left - 26, y: top + height / 2 };
  return [
    textElement("text", { x, y: top + height, "text-anchor": "end", ...text }, valueText(axis.low)),
    textElement("text", { ...turned, "text-anchor": "middle", ...text }, axis.label),
    textElement("text", { x, y: top + 9, "text-anchor": "end", ...text }, valueText(axis.high)),
  ].join("");
}

function drawLegend(
  { values }: HeatSpec,
  { right, y }: { right: number; y: number },
  theme: PlotLook["theme"],
): string {
  const [low, high] = rangeOf(values);
  if (!(low <= high)) return "";
  const text = paint(theme, { fill: "muted" });
  const left = right - LEGEND_PX - textWidth(valueText(high)) - 6;
  const step = LEGEND_PX / SHADES;
  const steps = Array.from({ length: SHADES }, (_, shade) =>
    element("rect", { x: left + shade * step, y: y - 9, width: step, height: 10, ...shadePaint(shade, theme) }),
  );
  return [
    textElement("text", { x: left - 6, y, "text-anchor": "end", ...text }, `fitness ${valueText(low)}`),
    ...steps,
    textElement("text", { x: right, y, "text-anchor": "end", ...text }, valueText(high)),
  ].join("");
}

function shadePaint(shade: number, theme: PlotLook["theme"]) {
  return { ...paint(theme, { fill: "first" }), "fill-opacity": 0.12 + (0.88 * shade) / (SHADES - 1) };
}

function shadeOf(value: number, low: number, high: number): number | null {
  if (Number.isNaN(value)) return null;
  const share = high > low ? (value - low) / (high - low) : 1;
  return Math.min(SHADES - 1, Math.floor(share * SHADES));
}

/** The least and the largest value; reversed where there are no values. */
function rangeOf(values: Float64Array): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
