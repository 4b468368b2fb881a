import type { PlotLook } from "../../protocol/plot-endpoints.ts";
import { darkStyle, paint } from "./plot-colours.ts";
import { FONT_PX } from "./plot-text.ts";
import { element, textElement } from "./svg-element.ts";

interface DocumentFrame extends PlotLook {
  readonly title: string;
  /** The same in words, for those who cannot see it. */
  readonly description: string;
  readonly height: number;
}

/** What every plot is drawn into: one image of fixed size, told in words, and its surface, with markup on it. */
export function svgDocument(frame: DocumentFrame, ...inside: readonly string[]): string {
  const { title, description, theme, width, height } = frame;
  return element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${Math.ceil(height)}`,
      role: "img",
      "font-family": "system-ui, -apple-system, 'Segoe UI', 'Open Sans', sans-serif",
      "font-size": FONT_PX,
    },
    textElement("title", {}, title),
    textElement("desc", {}, description),
    darkStyle(theme),
    element("rect", { width: "100%", height: "100%", ...paint(theme, { fill: "surface" }) }),
    ...inside,
  );
}
