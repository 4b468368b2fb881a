import type { ColourName } from "./plot-colours.ts";

export type MarkShape = "dot" | "ring" | "diamond" | "square" | "cross";

export interface PlotMark {
  readonly x: number;
  readonly y: number;
  /** Told on hovering. */
  readonly title: string;
}

/** One layer of a panel; those with a name stand in the legend. */
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

/** One field of a plot with a vertical axis of its own. */
export interface PlotPanel {
  /** What the vertical axis shows, with its unit. */
  readonly label: string;
  readonly layers: readonly PlotLayer[];
}

/** A plot as plain data: panels above each other over one horizontal axis. Every number is finite. */
export interface PlotSpec {
  readonly title: string;
  /** The same in words, for those who cannot see it. */
  readonly description: string;
  readonly xLabel: string;
  /** Ticks of the horizontal axis, which is logarithmic then; absent: chosen by its values. */
  readonly xTicks?: readonly number[];
  readonly panels: readonly PlotPanel[];
}
