import type { PlotLook } from "../../protocol/models/plot-endpoints.ts";
import { darkStyle, paint } from "./plot-spec.ts";
import { FONT_PX } from "./plot-text.ts";

/** Characters that mean something in XML, and those that XML 1.0 does not allow at all. */
const ESCAPED: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

/** Text escaped for use between tags and in attributes. */
export function escapeXml(text: string): string {
  return text.replaceAll(FORBIDDEN, "\ufffd").replaceAll(/[&<>"']/g, (character) => ESCAPED[character] ?? "");
}

/** An element with escaped attributes and rounded coordinates; its content is markup already. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  ...inside: readonly string[]
): string {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${escapeXml(typeof value === "number" ? String(round(value)) : value)}"`],
  );
  const start = `<${name}${written.join("")}`;
  return inside.length === 0 ? `${start}/>` : `${start}>${inside.join("")}</${name}>`;
}

/** An element that contains only text. */
export function textElement(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  text: string,
): string {
  return element(name, attributes, escapeXml(text));
}

/** Rounds to hundredths of a pixel. */
function round(value: number): number {
  return Math.round(value * 100) / 100;
}

interface DocumentFrame extends PlotLook {
  readonly title: string;
  /** Text alternative for screen readers. */
  readonly description: string;
  readonly height: number;
}

/** Document of every plot: one image of fixed size with a text alternative, its surface, and the markup on it. */
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
