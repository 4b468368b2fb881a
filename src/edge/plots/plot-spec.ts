import type { PlotLook } from "../../protocol/models/plot-endpoints.ts";

/** Colours by name: light and dark. They are those of the page (src/dashboard/theme.css), so that plots match it. */
const COLOURS = {
  surface: ["#ffffff", "#151c21"],
  text: ["#17212a", "#e2e8ec"],
  muted: ["#55626d", "#9aa8b3"],
  grid: ["#dce2e6", "#29343c"],
  first: ["#0b7a91", "#4fc3db"],
  second: ["#b4690e", "#f0a63c"],
  third: ["#b0305f", "#f47ba6"],
  good: ["#1d7a46", "#5ecb8b"],
  bad: ["#b3261e", "#ff8b81"],
} as const;
export type ColourName = keyof typeof COLOURS;

type Theme = PlotLook["theme"];

/**
 * Paint of an element. The colour is an attribute, which a page's policy on styles allows. With the theme `auto` it is
 * the light one, and `darkStyle` has the class for the dark one.
 */
export function paint(theme: Theme, { fill, stroke }: { readonly fill?: ColourName; readonly stroke?: ColourName }) {
  const index = theme === "dark" ? 1 : 0;
  const classes = [fill === undefined ? [] : [`f-${fill}`], stroke === undefined ? [] : [`s-${stroke}`]].flat();
  return {
    fill: fill === undefined ? "none" : COLOURS[fill][index],
    ...(stroke === undefined ? {} : { stroke: COLOURS[stroke][index] }),
    ...(theme === "auto" ? { class: classes.join(" ") } : {}),
  };
}

/** Stylesheet of a plot that follows its viewer's preference; empty for a fixed theme. */
export function darkStyle(theme: Theme): string {
  if (theme !== "auto") return "";
  const rules = Object.entries(COLOURS).map(([name, [, dark]]) => `.f-${name}{fill:${dark}}.s-${name}{stroke:${dark}}`);
  return `<style>@media (prefers-color-scheme:dark){${rules.join("")}}</style>`;
}

export type MarkShape = "dot" | "ring" | "diamond" | "square" | "cross";

export interface PlotMark {
  readonly x: number;
  readonly y: number;
  /** Shown on hovering. */
  readonly title: string;
}

/** One layer of a panel; those with a name appear in the legend. */
export type PlotLayer =
  | {
      readonly kind: "line";
      readonly name?: string;
      readonly colour: ColourName;
      readonly dashed?: boolean;
      readonly points: readonly (readonly [x: number, y: number])[];
    }
  | {
      readonly kind: "marks";
      readonly name: string;
      readonly colour: ColourName;
      readonly shape: MarkShape;
      readonly marks: readonly PlotMark[];
    }
  | {
      /** A line across the panel at one value of an axis. */
      readonly kind: "rule";
      readonly axis: "x" | "y";
      readonly at: number;
      readonly colour: ColourName;
      readonly text: string;
    };

/** One field of a plot with its own vertical axis. */
export interface PlotPanel {
  /** Quantity of the vertical axis, with its unit. */
  readonly label: string;
  readonly layers: readonly PlotLayer[];
}

/** A plot as plain data: panels above each other over one horizontal axis. Every number is finite. */
export interface PlotSpec {
  readonly title: string;
  /** Text alternative for screen readers. */
  readonly description: string;
  readonly xLabel: string;
  /** Ticks of the horizontal axis, which is then logarithmic; absent: chosen by its values. */
  readonly xTicks?: readonly number[];
  readonly panels: readonly PlotPanel[];
}
