import type { PlotLook } from "../../protocol/models/plot-endpoints.ts";
import { type ColourName, type MarkShape, paint, type PlotLayer } from "./plot-spec.ts";
import { textWidth } from "./plot-text.ts";
import { element, textElement } from "./svg.ts";

interface MarkOptions {
  readonly shape: MarkShape;
  readonly colour: ColourName;
  readonly theme: PlotLook["theme"];
  /** Shown on hovering. */
  readonly title?: string;
}

const SIZE_PX = 4.5;

/** A mark around a place; kinds differ by their shape, never by colour alone. */
export function drawMark(x: number, y: number, { shape, colour, theme, title }: MarkOptions): string {
  const inside = title === undefined ? [] : [textElement("title", {}, title)];
  const filled = paint(theme, { fill: colour });
  const outlined = { ...paint(theme, { fill: "surface", stroke: colour }), "stroke-width": 1.75 };
  const r = SIZE_PX;
  switch (shape) {
    case "dot":
      return element("circle", { cx: x, cy: y, r: r - 0.75, ...filled }, ...inside);
    case "ring":
      return element("circle", { cx: x, cy: y, r: r - 0.5, ...outlined }, ...inside);
    case "square":
      return element("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, ...outlined }, ...inside);
    case "diamond": {
      const d = r * 1.6;
      return element(
        "path",
        { d: `M${at(x, y - d)}L${at(x + d, y)}L${at(x, y + d)}L${at(x - d, y)}Z`, ...filled },
        ...inside,
      );
    }
    case "cross": {
      const d = `M${at(x - r, y - r)}L${at(x + r, y + r)}M${at(x - r, y + r)}L${at(x + r, y - r)}`;
      return element("path", { d, ...paint(theme, { stroke: colour }), "stroke-width": 2 }, ...inside);
    }
  }
}

/** A place in the syntax of a path. */
export function at(x: number, y: number): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}

const ROW_PX = 18;
const SIGN_PX = 22;
const GAP_PX = 16;

type Named = Exclude<PlotLayer, { kind: "rule" }>;

interface LegendFrame {
  readonly theme: PlotLook["theme"];
  readonly left: number;
  readonly right: number;
  readonly top: number;
}

/** Legend of all layers with a name, each name once, in as many rows as needed. */
export function drawLegend(layers: readonly PlotLayer[], frame: LegendFrame): { markup: string; bottom: number } {
  const { theme, left, right, top } = frame;
  const named = layers.flatMap((layer) =>
    layer.kind === "rule" || layer.name === undefined || !isDrawn(layer) ? [] : [{ layer, name: layer.name }],
  );
  const entries = [...new Map(named.map((entry) => [entry.name, entry])).values()];
  let x = left;
  let y = top + ROW_PX / 2;
  const drawn = entries.map(({ layer, name }) => {
    const width = SIGN_PX + textWidth(name) + GAP_PX;
    if (x > left && x + width - GAP_PX > right) {
      x = left;
      y += ROW_PX;
    }
    const entry = [
      drawSign(layer, x, y, theme),
      textElement("text", { x: x + SIGN_PX, y: y + 4, ...paint(theme, { fill: "muted" }) }, name),
    ];
    x += width;
    return entry.join("");
  });
  return { markup: drawn.join(""), bottom: entries.length === 0 ? top : y + ROW_PX / 2 };
}

/** The legend omits layers without anything to draw. */
function isDrawn(layer: Named): boolean {
  return layer.kind === "marks" ? layer.marks.length > 0 : layer.points.length > 1;
}

function drawSign(layer: Named, x: number, y: number, theme: PlotLook["theme"]): string {
  if (layer.kind === "marks") return drawMark(x + SIGN_PX / 2 - 2, y, { ...layer, theme });
  return element("path", {
    d: `M${at(x, y)}H${(x + SIGN_PX - 5).toFixed(1)}`,
    ...paint(theme, { stroke: layer.colour }),
    "stroke-width": 2,
    "stroke-dasharray": layer.dashed === true ? "5 4" : undefined,
  });
}
