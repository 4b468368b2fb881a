/** A history as a page draws it: instants in seconds, and percentiles in the order of their names. */
export interface PannedPoints {
  readonly timesS: readonly number[];
  readonly percentiles: readonly (readonly number[])[];
}

/** What is panned, and how much of it is in sight. */
export interface PanCase {
  readonly points: PannedPoints;
  /** As a share of all of it. */
  readonly share: number;
}

/** Of a plot's frame, in CSS pixels, wherever it is drawn. */
export const PLOT_HEIGHT_PX = 260;
/** Places along a plot that outlines are compared at. */
export const OUTLINE_PLACES = 64;
/** How long one round pans. */
export const ROUND_MS = 3_000;
/** Of the highest percentile's line, in the page's light theme. */
export const LINE_COLOUR = [176, 48, 95] as const;
