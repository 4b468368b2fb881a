import type { PlotLook } from "../../protocol/models/plot-endpoints.ts";
import { at, drawMark } from "./draw-marks.ts";
import { paint, type PlotLayer, type PlotPanel } from "./plot-spec.ts";
import type { PlotScale } from "./plot-scale.ts";
import { textWidth, tickText } from "./plot-text.ts";
import { element, textElement } from "./svg.ts";

export interface PanelFrame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface PanelOptions {
  readonly theme: PlotLook["theme"];
  readonly frame: PanelFrame;
  readonly xScale: PlotScale;
  readonly yScale: PlotScale;
  /** True if the ticks of the horizontal axis are labelled here. */
  readonly isLast: boolean;
}

/** Gap between a rule and its label, and between the labels of two rules. */
const RULE_GAP_PX = 5;
const RULE_ROW_PX = 15;

/** One panel: grid and ticks, then its layers in order, with the labels of rules on top. */
export function drawPanel(panel: PlotPanel, options: PanelOptions): string {
  const { theme, frame } = options;
  const label = textElement(
    "text",
    { x: frame.left, y: frame.top - 7, ...paint(theme, { fill: "muted" }) },
    panel.label,
  );
  const rules = panel.layers.filter((layer) => layer.kind === "rule");
  return [
    label,
    drawGrid(options),
    ...rules.map((rule) => drawRule(rule, options)),
    ...panel.layers.map((layer) => drawLayer(layer, options)),
    ...rules.map((rule, index) => drawRuleText(rule, rules.slice(0, index), options)),
  ].join("");
}

function placesOf({ frame, xScale, yScale }: PanelOptions) {
  const { left, right, top, bottom } = frame;
  return {
    xOf: (value: number) => left + xScale.place(value) * (right - left),
    yOf: (value: number) => bottom - yScale.place(value) * (bottom - top),
  };
}

function drawGrid(options: PanelOptions): string {
  const { theme, frame, xScale, yScale, isLast } = options;
  const { left, right, top, bottom } = frame;
  const { xOf, yOf } = placesOf(options);
  const line = { ...paint(theme, { stroke: "grid" }), "stroke-width": 1 };
  const text = paint(theme, { fill: "muted" });
  const rows = yScale.ticks.flatMap((tick) => [
    element("path", { d: `M${at(left, yOf(tick))}H${right.toFixed(1)}`, ...line }),
    textElement("text", { x: left - 8, y: yOf(tick) + 4, "text-anchor": "end", ...text }, tickText(tick)),
  ]);
  const columns = xScale.ticks.flatMap((tick) => [
    element("path", { d: `M${at(xOf(tick), top)}V${bottom.toFixed(1)}`, ...line }),
    isLast
      ? textElement("text", { x: xOf(tick), y: bottom + 16, "text-anchor": "middle", ...text }, tickText(tick))
      : "",
  ]);
  return [...rows, ...columns].join("");
}

type Rule = Extract<PlotLayer, { kind: "rule" }>;

function drawRule({ axis, at: value, colour }: Rule, options: PanelOptions): string {
  const { theme, frame } = options;
  const { xOf, yOf } = placesOf(options);
  const d =
    axis === "x"
      ? `M${at(xOf(value), frame.top)}V${frame.bottom.toFixed(1)}`
      : `M${at(frame.left, yOf(value))}H${frame.right.toFixed(1)}`;
  return element("path", { d, ...paint(theme, { stroke: colour }), "stroke-width": 1.5, "stroke-dasharray": "2 3" });
}

/** Label beside its rule and inside the panel; labels of vertical rules are below each other. */
function drawRuleText(rule: Rule, before: readonly Rule[], options: PanelOptions): string {
  const { theme, frame } = options;
  const { xOf, yOf } = placesOf(options);
  const halo = {
    ...paint(theme, { fill: rule.colour, stroke: "surface" }),
    "stroke-width": 4,
    "paint-order": "stroke",
  };
  if (rule.axis === "y") {
    const y = yOf(rule.at);
    const isHigh = y - frame.top < 3 * RULE_ROW_PX;
    const place = { x: frame.right - RULE_GAP_PX, y: isHigh ? y + RULE_ROW_PX - 1 : y - RULE_GAP_PX };
    return textElement("text", { ...place, "text-anchor": "end", ...halo }, rule.text);
  }
  const row = before.filter(({ axis }) => axis === "x").length;
  const x = xOf(rule.at);
  const isRight = x + RULE_GAP_PX + textWidth(rule.text) > frame.right;
  const place = { x: isRight ? x - RULE_GAP_PX : x + RULE_GAP_PX, y: frame.top + 12 + row * RULE_ROW_PX };
  return textElement("text", { ...place, "text-anchor": isRight ? "end" : "start", ...halo }, rule.text);
}

function drawLayer(layer: PlotLayer, options: PanelOptions): string {
  const { theme } = options;
  const { xOf, yOf } = placesOf(options);
  if (layer.kind === "rule") return "";
  if (layer.kind === "marks")
    return layer.marks.map(({ x, y, title }) => drawMark(xOf(x), yOf(y), { ...layer, theme, title })).join("");
  const [first, ...rest] = layer.points.map(([x, y]) => at(xOf(x), yOf(y)));
  if (first === undefined) return "";
  return element("path", {
    d: `M${[first, ...rest].join("L")}`,
    ...paint(theme, { stroke: layer.colour }),
    "stroke-width": 2,
    "stroke-linejoin": "round",
    "stroke-dasharray": layer.dashed === true ? "5 4" : undefined,
  });
}
