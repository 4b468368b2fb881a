import type { PlotLook } from "../../protocol/plot-endpoints.ts";
import { at, drawMark } from "./draw-marks.ts";
import { paint } from "./plot-colours.ts";
import type { PlotLayer } from "./plot-spec.ts";
import { textWidth } from "./plot-text.ts";
import { element, textElement } from "./svg-element.ts";

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

/** The signs of all layers that have a name, each name once, in as many rows as they take. */
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

/** A legend names nothing that is not there. */
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
