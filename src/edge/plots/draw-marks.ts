import { type ColourName, paint } from "./plot-colours.ts";
import type { PlotLook } from "../../protocol/plot-endpoints.ts";
import type { MarkShape } from "./plot-spec.ts";
import { element, textElement } from "./svg-element.ts";

interface MarkOptions {
  readonly shape: MarkShape;
  readonly colour: ColourName;
  readonly theme: PlotLook["theme"];
  /** Told on hovering. */
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

/** A place as it stands in a path. */
export function at(x: number, y: number): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
